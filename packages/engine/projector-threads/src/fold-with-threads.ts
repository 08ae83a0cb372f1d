import { fail } from '@stemma/errors';
import {
  clearCaches,
  decodeCheckpoint,
  foldPartition,
  type PartitionRun,
  type Progress,
  toUnknownFrame,
} from '@stemma/projector';
import { workersFor, type RunWorkers, type WorkersOptions } from './workers/workers-for.ts';

/** Folds a run here, and in threads where many frames are still to come. @throws as `runPartition`; E_INTERNAL if a thread ends */
export const foldWithThreads = async (
  run: PartitionRun,
  options: WorkersOptions | undefined,
): Promise<Progress> => {
  const workers = options && workersFor(run, options);
  if (workers === undefined) return toUnknownFrame(run, foldPartition);
  try {
    return await toUnknownFrame(run, (part) => foldInTurns(part, workers));
  } finally {
    await workers.close();
  }
};

/** Records that are folded at once, until it is known whether threads follow: what this thread folds makes its heap large, and it keeps it so. */
const SOME_RECORDS = 128;

type Sums = Pick<Progress, 'frames' | 'events' | 'batches'>;

/** Folds here until threads can go on, and after those what they leave. */
const foldInTurns = async (run: PartitionRun, workers: RunWorkers): Promise<Progress> => {
  const { generation, context, partition, limits, until } = run;
  let done: Sums = { frames: 0, events: 0, batches: 0 };
  for (;;) {
    const before = done;
    const turn = openTurn(run, workers);
    const at = await foldPartition({
      ...run,
      maxRecords: () => (turn.mayFollow() ? SOME_RECORDS : undefined),
      committed: (here) => run.committed(plus(here, before)),
      stop: (here, first) => run.stop?.() === true || turn.isOver(here, first),
    });
    const here = plus(at, before);
    if (!turn.wasGivenAway()) return here;
    // They hold nothing that the threads go by, and take memory.
    clearCaches(context);
    const cursor = await generation.read((view) => view.cursor(partition));
    if (cursor === null)
      throw fail('E_CURSOR_MOVED', `others have thrown away the rows of ${generation.name}`);
    let progress = here;
    const how = await workers.run({
      partition,
      cursor,
      until,
      frames: limits.frames,
      committed: (commit) => {
        const { offset } = decodeCheckpoint(commit.cursor).cursor;
        progress = plus({ partition, offset, ...commit, batches: 1 }, progress);
        run.committed(progress);
        return run.stop?.() === true;
      },
    });
    if (how !== 'irregular') return progress;
    done = progress;
  }
};

const plus = (at: Progress, { frames, events, batches }: Sums): Progress => ({
  partition: at.partition,
  offset: at.offset,
  frames: at.frames + frames,
  events: at.events + events,
  batches: at.batches + batches,
});

/** What this thread folds of a run at a stretch. */
type Turn = {
  /** Whether threads may go on. */
  readonly mayFollow: () => boolean;
  /** True if they go on after this commit: then they can fold. @param first where it began */
  readonly isOver: (here: Progress, first: number) => Promise<boolean>;
  readonly wasGivenAway: () => boolean;
};

const openTurn = ({ log, partition, until }: PartitionRun, workers: RunWorkers): Turn => {
  // The first frames of many histories are small, and tell little about those to come.
  let lookAgain = workers.least / 256;
  let mayFollow = true;
  let isGiven = false;
  return {
    mayFollow: () => mayFollow,
    wasGivenAway: () => isGiven,
    async isOver({ offset, frames }, first) {
      if (frames < lookAgain) return false;
      lookAgain = frames * 2;
      const end = Math.min(until ?? Infinity, await log.end(partition));
      // Offsets count bytes in one log and records in another: either way as many frames a piece as so far.
      mayFollow = ((end - offset) / (offset - first)) * frames >= workers.least;
      if (!mayFollow) return false;
      await workers.opened();
      return (isGiven = true);
    },
  };
};
