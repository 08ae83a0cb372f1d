import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import type { Projection } from '../projection.ts';

/** Rows that this process folds while it serves them. */
export type ProjectionWithDeadline = {
  readonly projection: Projection;
  /** Throws E_ROWS_BEHIND, with how far they are, until the rows have reached the log's end once. */
  readonly checkReady: () => Promise<void>;
  /** Resolves when nothing is folded any more. */
  readonly idle: () => Promise<void>;
};

/**
 * Rows that are read where the log may be long and the rows far behind. One fold runs, from now on, whoever asks; a
 * reader waits for it so many milliseconds and is then told how far it is, with E_ROWS_BEHIND.
 */
export const withCatchUpDeadline = (
  log: EventLog,
  rows: Projection,
  catchUpTimeout: number,
): ProjectionWithDeadline => {
  let upToDateOnce = false;
  const fold = coalesceRuns(async () => {
    await rows.catchUp();
    upToDateOnce = true;
  });
  const partitions = Array.from({ length: log.partitions }, (_, partition) => partition);
  const partitionFolds = partitions.map((partition) => coalesceRuns(() => rows.catchUp(partition)));
  const rowsBehindError = async (): Promise<Error> => {
    const offsets = await Promise.all(
      partitions.map(async (partition) => {
        const [end, at] = [await log.end(partition), await rows.checkpoint(partition)];
        return { partition, rows: at?.cursor.offset ?? 0, end };
      }),
    );
    const progress = offsets
      .filter((each) => each.rows < each.end)
      .map((each) => `${each.partition}@${each.rows} of ${each.end}`);
    return fail('E_ROWS_BEHIND', `the rows are being built, and are at ${progress.join(', ') || 'the end'}`);
  };
  void fold.request().catch(() => undefined);
  return {
    projection: {
      ...rows,
      catchUp: async (partition) => {
        // The first time everything is folded: parts of it would only wait for that.
        const { request } = (upToDateOnce && partition !== undefined && partitionFolds[partition]) || fold;
        const deadline = new AbortController();
        const timer = setTimeout(() => deadline.abort(), catchUpTimeout);
        try {
          if (await finishedBeforeAbort(request(), deadline.signal)) return;
        } finally {
          clearTimeout(timer);
        }
        throw await rowsBehindError();
      },
    },
    checkReady: async () => {
      if (upToDateOnce) return;
      // After a fold failed because the log was unreachable, the next read starts it again.
      void fold.request().catch(() => undefined);
      throw await rowsBehindError();
    },
    idle: async () => {
      for (const { idle } of [fold, ...partitionFolds]) await idle();
    },
  };
};

/** True when the work is done; false when the signal came first, and the work goes on. */
const finishedBeforeAbort = (work: Promise<void>, signal: AbortSignal): Promise<boolean> =>
  Promise.race([
    work.then(() => true),
    new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true });
    }),
  ]);

/** Shares work between all callers while it has not begun: one run, and at most one after it. */
const coalesceRuns = (
  work: () => Promise<void>,
): { readonly request: () => Promise<void>; readonly idle: () => Promise<void> } => {
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
    request: () => {
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
