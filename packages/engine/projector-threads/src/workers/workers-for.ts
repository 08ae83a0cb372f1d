import { fail } from '@stemma/errors';
import type { PartitionRun } from '@stemma/projector';
import { openSealedParts } from '../run-thread/sealed-parts.ts';
import { startRunThread, type RunThread } from '../run-thread/start-run-thread.ts';
import { sendableModels } from '../sent-models.ts';
import type { Committed, LongRun, PartitionRunEnd } from './run-in-workers.ts';

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

/** The threads that fold a run: started when they are asked for, ended with it. */
export type RunWorkers = {
  /** They are worth their start when about so many frames are still to come; 0: always. */
  readonly least: number;
  /** Starts them, if they are not started; resolves when they can fold. @throws E_INTERNAL */
  readonly opened: () => Promise<void>;
  /** Folds from a cursor, which a commit has left, on. @throws as `runInWorkers`; E_INTERNAL if a thread ends */
  readonly run: (
    run: LongRun & {
      /** Called after each commit: true stops the run there. */
      readonly committed: (commit: Committed) => boolean;
    },
  ) => Promise<PartitionRunEnd>;
  readonly close: () => Promise<void>;
};

/** Threads for a run; undefined if they could not read its rows or its read models. */
export const workersFor = (
  { store, generation, log, context, limits, cacheBytes }: PartitionRun,
  workers: WorkersOptions,
): RunWorkers | undefined => {
  const { name } = generation;
  if (workers.count < 1 || store.address === undefined) return undefined;
  const models = sendableModels(context);
  if (models === undefined) return undefined;
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
        ...models,
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
