import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import { READ_MODELS } from '@stemma/read-models';
import type { Generation, RowStore } from '@stemma/row-store';
import type { FoldContext } from '../fold-frames.ts';
import { openSealedParts } from '../run-thread/sealed-parts.ts';
import { startRunThread, type RunThread } from '../run-thread/start-run-thread.ts';
import type { BatchLimits, WorkersFor } from '../run-partition.ts';
import type { Committed } from './run-in-workers.ts';

/** How many threads fold, and when they are started. */
export type WorkersOptions = {
  /** Threads that fold; one of them checks and commits too. */
  readonly count: number;
  /**
   * They are started when about so many frames are still to come after a batch: each must be loaded, and the engine compiles for each.
   * 0: in every run that has more than one batch. Default: 60,000 for two threads, half as many for four.
   */
  readonly least?: number;
};

/**
 * Frames for all threads together. Two threads take as long as one with about 60,000 frames (350,000 events), half of which is their
 * beginning: the others fold the sooner the more they are.
 */
const LEAST = 120_000;

/** The threads of one run: started when they are asked for, ended with it. */
export type RunWorkers = WorkersFor & { readonly close: () => Promise<void> };

/** Threads for a run; undefined if they could not read its rows or its read models. */
export const workersFor = (options: {
  readonly workers: WorkersOptions;
  readonly store: RowStore;
  readonly generation: Generation;
  readonly log: EventLog;
  readonly context: FoldContext;
  readonly limits: BatchLimits;
  readonly cacheBytes: number;
}): RunWorkers | undefined => {
  const { workers, store, generation, log, context, limits, cacheBytes } = options;
  const { name } = generation;
  if (workers.count < 1 || store.address === undefined) return undefined;
  const models = [...context.models, ...context.onDemand];
  // Threads find read models by name.
  if (!models.every((model) => READ_MODELS.includes(model))) return undefined;
  const address = store.address.bind(store);
  let started: RunThread | undefined;
  let committed: (commit: Committed) => boolean = () => false;

  const start = (): RunThread => {
    const rows = address(name, true);
    const { contents } = context;
    const sealed = openSealedParts(generation, context, Math.ceil(cacheBytes / 8));
    return startRunThread(
      {
        rows,
        models: models.map((model) => model.name),
        onDemand: context.onDemand.map((model) => model.name),
        keepFrames: context.keepFrames,
        limits,
        log: {
          id: log.id,
          partitions: log.partitions,
          ...(log.isRemote !== undefined && { isRemote: log.isRemote }),
        },
        cacheBytes,
        foldThreads: workers.count,
      },
      {
        log,
        contents,
        long: {
          describe: (history) => {
            const isSealed = contents.sealer?.seals(history) === true;
            const eager = context.onDemand.filter((model) => context.eager(history, model.name));
            if (!isSealed && eager.length === 0) return undefined;
            return { history, sealed: isSealed, eager: eager.map((model) => model.name) };
          },
          sealed,
          committed: async (commit) => {
            if (rows.file !== address(name).file)
              throw fail('E_CURSOR_MOVED', `others have replaced the rows of ${name}`);
            await sealed.committed(commit.window);
            return committed(commit);
          },
        },
      },
    );
  };
  return {
    least: workers.least ?? Math.ceil(LEAST / workers.count),
    opened: async () => {
      await (started ??= start()).opened;
    },
    async run({ committed: hear, ...run }) {
      committed = hear;
      try {
        return await (started ??= start()).runLong(run);
      } finally {
        // From here on reads see what the thread has committed.
        await generation.read(() => undefined);
      }
    },
    close: async () => started?.close(),
  };
};
