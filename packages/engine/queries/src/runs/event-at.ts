import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';

/** The event of a frame that a row refers to. @throws E_ROWS_DAMAGED if it is none of the type that the row says */
export const eventAt = <Type extends HistoryEvent['type']>(
  events: readonly HistoryEvent[],
  { index }: EventRef,
  type: Type,
): Extract<HistoryEvent, { type: Type }> => {
  const event = events[index];
  if (event?.type === type) return event as Extract<HistoryEvent, { type: Type }>;
  throw fail('E_ROWS_DAMAGED', `event ${index} is no ${type}, though its row says so`);
};
