import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import type { ServedRows } from '@stemma/projector';

/** Rows that this process folds while it serves them. */
export type PatientRows = {
  readonly served: ServedRows;
  /** Throws E_ROWS_BEHIND, with how far they are, until the rows have reached the log's end once. */
  readonly begun: () => Promise<void>;
  /** Resolves when nothing is folded any more. */
  readonly idle: () => Promise<void>;
};

/**
 * Rows that are read where the log may be long and the rows far behind. One fold runs, from now on, whoever asks; a reader
 * waits for it so many milliseconds and is then told how far it is, with E_ROWS_BEHIND.
 */
export const patientRows = (log: EventLog, rows: ServedRows, patience: number): PatientRows => {
  let reached = false;
  const fold = inOne(async () => {
    await rows.catchUp();
    reached = true;
  });
  const all = Array.from({ length: log.partitions }, (_, partition) => partition);
  const folds = all.map((partition) => inOne(() => rows.catchUp(partition)));
  const behind = async (): Promise<Error> => {
    const places = await Promise.all(
      all.map(async (partition) => {
        const [end, at] = [await log.end(partition), await rows.checkpoint(partition)];
        return { partition, rows: at?.cursor.offset ?? 0, end };
      }),
    );
    const told = places
      .filter((each) => each.rows < each.end)
      .map((each) => `${each.partition}@${each.rows} of ${each.end}`);
    return fail('E_ROWS_BEHIND', `the rows are being made, and are at ${told.join(', ') || 'the end'}`);
  };
  void fold.ask().catch(() => undefined);
  return {
    served: {
      ...rows,
      catchUp: async (partition) => {
        // The first time everything is folded: parts of it would only wait for that.
        const { ask } = (reached && partition !== undefined && folds[partition]) || fold;
        const late = new AbortController();
        const timer = setTimeout(() => late.abort(), patience);
        try {
          if (await orAborted(ask(), late.signal)) return;
        } finally {
          clearTimeout(timer);
        }
        throw await behind();
      },
    },
    begun: async () => {
      if (reached) return;
      // A fold that failed, of a log that was away, is begun again by whoever asks.
      void fold.ask().catch(() => undefined);
      throw await behind();
    },
    idle: async () => {
      for (const { idle } of [fold, ...folds]) await idle();
    },
  };
};

/** True when the work is done; false when the signal came first, and the work goes on. */
const orAborted = (work: Promise<void>, signal: AbortSignal): Promise<boolean> =>
  Promise.race([
    work.then(() => true),
    new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true });
    }),
  ]);

/** The same work for all who ask while it has not begun: one run, and at most one behind it. */
const inOne = (
  work: () => Promise<void>,
): { readonly ask: () => Promise<void>; readonly idle: () => Promise<void> } => {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    const mine = work().finally(() => {
      running = undefined;
    });
    // Nobody may be waiting for it any more.
    mine.catch(() => undefined);
    running = mine;
    return mine;
  };
  return {
    ask: () => {
      if (running === undefined) return run();
      next ??= running
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          return run();
        });
      next.catch(() => undefined);
      return next;
    },
    idle: async () => {
      for (let left = next ?? running; left !== undefined; left = next ?? running)
        await left.catch(() => undefined);
    },
  };
};
