import type { Checkpoint } from '@stemma/log';
import { anySignal } from '@stemma/machine';
import type { Generation, RowStore } from '@stemma/row-store';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeCheckpoint } from './checkpoint.ts';

/** What one that follows rows over a network knows of them, so that a batch takes no more than its commit. */
export type Followed = {
  /** The current generation; undefined if it must be looked up, because nobody has for a while. */
  readonly generation: () => Generation | undefined;
  /** Its checkpoint of a partition, as this process knows it. A commit that others have overtaken is refused. */
  readonly checkpoint: (partition: number) => Checkpoint | undefined;
  /** This generation is the current one. Rows that are not remote are looked up each time. */
  readonly found: (generation: Generation) => void;
  /** A commit was refused, or failed: look again. */
  readonly forget: () => void;
};

/** Milliseconds after which the current generation is looked up again. */
const MAX_AGE = 1_000;

export const openFollowed = (now: () => number): Followed => {
  let known: { readonly generation: Generation; readonly at: number } | undefined;
  return {
    generation: () => (known !== undefined && now() - known.at <= MAX_AGE ? known.generation : undefined),
    checkpoint: (partition) => {
      const bytes = known?.generation.knownCursor?.(partition);
      return bytes && decodeCheckpoint(bytes);
    },
    found: (generation) => {
      if (generation.knownCursor !== undefined) known = { generation, at: now() };
    },
    forget: () => {
      known = undefined;
    },
  };
};

/** Rows that others discard, while somebody follows. */
export type Discards = {
  /** How often rows were discarded. */
  readonly count: () => number;
  /** Does work that waits for something else, whose signal aborts with the given one, or if there are more discards than `before`. */
  readonly during: (
    before: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ) => Promise<void>;
};

/** Listens until the signal aborts: nothing that was known of the rows is believed after a discard. */
export const noticeDiscards = (
  store: RowStore,
  signal: AbortSignal,
  { forget }: Pick<Followed, 'forget'>,
): Discards => {
  let discards = 0;
  const listeners = new Set<() => void>();
  const listen = async (): Promise<void> => {
    while (!signal.aborted) {
      await store.discarded?.(signal);
      forget();
      discards++;
      for (const each of [...listeners]) each();
    }
  };
  if (store.discarded !== undefined) void listen();
  return {
    count: () => discards,
    async during(before, until, work) {
      const discarded = new AbortController();
      const end = (): void => discarded.abort();
      listeners.add(end);
      if (discards > before) end();
      try {
        await work(anySignal([until, discarded.signal]));
      } finally {
        listeners.delete(end);
      }
    },
  };
};

/** Milliseconds that more records are waited for, at most. */
const MOST_PAUSE = 20;

/**
 * Waits for records, and, when they come faster than batches are folded, for some more: a batch costs a database nearly the
 * same however many frames it has. So under load at most half of the time is spent on batches; a record that comes alone
 * is folded at once.
 *
 * @param took how long the last batch took, in milliseconds
 * @param wait resolves when there are records
 */
export const gather = async (
  took: number,
  wait: () => Promise<void>,
  signal: AbortSignal,
  now: () => number,
): Promise<void> => {
  const began = now();
  await wait();
  if (now() - began >= took) return;
  await sleep(Math.min(took, MOST_PAUSE), undefined, { signal }).catch(() => undefined);
};
