import type { RunPartition } from '@stemma/projector';
import { foldWithThreads } from './fold-with-threads.ts';
import { openShortRuns } from './short-runs.ts';
import type { WorkersOptions } from './workers/workers-for.ts';

export type ThreadsOptions = {
  /** Threads that fold long runs with the projector's own, if they can read the rows. Default: none. */
  readonly workers?: WorkersOptions;
  /**
   * Frames and events of short runs that are folded in the projector's thread, before a thread of their own folds and commits such
   * runs, if it can: only those of a projector that has the frames of its process. Default: there is none.
   */
  readonly shortRunsAfter?: number;
};

/** Runs that are folded in threads, where that is faster; of what is not as usual the projector's own thread takes care. */
export const openThreads = ({ workers, shortRunsAfter }: ThreadsOptions): RunPartition => {
  const shortRuns = shortRunsAfter === undefined ? undefined : openShortRuns(shortRunsAfter);
  return {
    async run(run) {
      if (shortRuns === undefined || run.context.decoded === undefined) return foldWithThreads(run, workers);
      if (await shortRuns.run(run)) return undefined;
      const done = await foldWithThreads(run, workers);
      shortRuns.foldedHere(done, run);
      return done;
    },
    close: async () => shortRuns?.close(),
  };
};
