import type { HistoryEvent } from './catalogue.ts';

/** About whom a history is that can be erased; null: nobody said. */
export type Erasable = { readonly subject: string | null };

/**
 * What the first frame of a history says of erasing it: about whom it is; undefined if it cannot be erased.
 *
 * @param events of that frame: who started the history may stand before the start
 */
export const erasableOf = (events: readonly HistoryEvent[]): Erasable | undefined =>
  events.find((event) => event.type === 'HistoryStarted')?.erasable;
