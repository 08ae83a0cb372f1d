import { fail, isStemmaError } from '@stemma/errors';
import { readHistoryHeads } from '@stemma/history-store';
import {
  checkpointAtStart,
  readPartition,
  type CheckedBatch,
  type Checkpoint,
  type EventLog,
  type Heads,
  type RevalidatingReader,
} from '@stemma/log';
import { sameCursor, stageRows, type Generation } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts';
import { foldFrames, type FoldContext, type FoldedCounts, type StagedBatch } from './fold-frames.ts';
import { openWindowSize } from './window-size.ts';
import type { Committed, LongRun, PartitionRunEnd } from './workers/run-in-workers.ts';

/** When a batch is committed: as soon as one of these is reached. */
export type BatchLimits = {
  /** Default: no limit. */
  readonly frames?: number;
  /** Bytes of frames. Default 8 MiB. */
  readonly bytes?: number;
  /** Default 50,000. */
  readonly rows?: number;
  /** Default 500. */
  readonly milliseconds?: number;
};

/** True if a batch of this size, whose first frame came `age` milliseconds ago, is committed. */
export const fullBatch = (
  limits: BatchLimits,
  batch: { readonly frames: number; readonly bytes: number; readonly rows: number; readonly age: number },
): boolean =>
  batch.frames >= (limits.frames ?? Infinity) ||
  batch.bytes >= (limits.bytes ?? 8 * 1024 * 1024) ||
  batch.rows >= (limits.rows ?? 50_000) ||
  batch.age >= (limits.milliseconds ?? 500);

/** The progress of a run. */
export type Progress = {
  readonly partition: number;
  /** The offset of the rows' checkpoint. */
  readonly offset: number;
  /** Frames and events folded in this run, control frames apart. */
  readonly frames: number;
  readonly events: number;
  /** Batches committed in this run. */
  readonly batches: number;
};

export type RunPartitionOptions = {
  readonly log: EventLog;
  readonly generation: Generation;
  readonly context: FoldContext;
  readonly partition: number;
  /** Go on from the cursor that the generation knows; whether it still holds shows when the batch is committed. */
  readonly trustKnown: boolean;
  /** Kept from run to run, so that a run that goes on where the last one ended does not look back. */
  readonly reader: RevalidatingReader;
  readonly limits: BatchLimits;
  /** Threads that fold, where many frames are still to come. */
  readonly workers?: WorkersFor | undefined;
  /** Stop at this offset; default: the end of the log when the run reaches it. */
  readonly until?: number;
  readonly committed: (progress: Progress) => void;
  /** Called after each commit: true stops the run there. */
  readonly stop?: () => boolean;
  /** A steady clock in milliseconds. */
  readonly now: () => number;
};

/** The threads that fold a run. */
export type WorkersFor = {
  /** They are started, and waited for, when about so many frames are still to come; 0: they fold all but the first batch. */
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
};

/**
 * Reads a partition from the rows' checkpoint on, checks and folds frames, and commits rows, heads and the checkpoint
 * in one batch. Ends at the end of the log, or after a record that closes the partition.
 *
 * @throws E_CURSOR_MOVED if another projector was faster: run again. E_CURSOR_LOST: rebuild. E_VERSION_NEEDED: the
 *   frames before the unknown one are committed. After any error caches may hold what was not committed: clear them.
 */
export const runPartition = async (options: RunPartitionOptions): Promise<Progress> => {
  try {
    return await run(options);
  } catch (error) {
    // The batch with the unknown frame was discarded: the frames before it can still be folded.
    const offset = isStemmaError(error, 'E_VERSION_NEEDED') ? error.detail['offset'] : undefined;
    if (typeof offset !== 'number' || offset >= (options.until ?? Infinity)) throw error;
    clearCaches(options.context);
    // Frames are folded history by history: another history may have an unknown one before this.
    await runPartition({ ...options, until: offset });
    throw error;
  }
};

export const clearCaches = ({ branchCache: branches }: FoldContext): void => branches.clear();

const run = async (options: RunPartitionOptions): Promise<Progress> => {
  const { log, generation, partition } = options;
  const known = options.trustKnown ? generation.knownCursor?.(partition) : undefined;
  const cursor = known ?? (await generation.read((view) => view.cursor(partition)));
  const checkpoint = cursor === null ? await checkpointAtStart(log, partition) : decodeCheckpoint(cursor);
  const { offset } = checkpoint.cursor;
  const at: Place = { cursor, checkpoint, progress: { partition, offset, frames: 0, events: 0, batches: 0 } };
  while ((await runHere(options, at)) === 'workers') {
    const { workers, until, limits, context } = options;
    // They hold nothing that the threads go by, and take memory.
    clearCaches(context);
    const how = await (workers as WorkersFor).run({
      partition,
      cursor: at.cursor as Uint8Array,
      until,
      frames: limits.frames,
      committed: (commit) => {
        reached(options, at, { ...commit, checkpoint: decodeCheckpoint(commit.cursor) });
        return options.stop?.() === true;
      },
    });
    if (how !== 'irregular') break;
  }
  return at.progress;
};

/** How far a run is. */
type Place = { cursor: Uint8Array | null; checkpoint: Checkpoint; progress: Progress };

const reached = (
  options: RunPartitionOptions,
  at: Place,
  commit: Pick<Committed, 'cursor' | 'frames' | 'events'> & { readonly checkpoint: Checkpoint },
): void => {
  const { partition, frames, events, batches } = at.progress;
  at.cursor = commit.cursor;
  at.checkpoint = commit.checkpoint;
  at.progress = {
    partition,
    offset: commit.checkpoint.cursor.offset,
    frames: frames + commit.frames,
    events: events + commit.events,
    batches: batches + 1,
  };
  options.committed(at.progress);
};

/** Records that are folded at once, until it is known whether threads follow: what this thread folds makes its heap large, and it keeps it so. */
const SOME_RECORDS = 128;

/** Folds in this thread: to the end, or until others can go on, which is after one batch at the earliest. */
const runHere = async (options: RunPartitionOptions, at: Place): Promise<'ended' | 'workers'> => {
  const { log, generation, context, partition, reader, limits, until, now, workers } = options;
  const batch = openBatch(generation, partition, at.cursor, at.checkpoint, now);
  const flush = async (): Promise<void> => {
    const { frames, events, next } = batch.total;
    reached(options, at, { frames, events, checkpoint: next, cursor: await batch.commit() });
  };
  const first = at.progress.offset;
  // The first frames of many histories are small, and tell little about those to come.
  let lookAgain = (workers?.least ?? 0) / 256;
  let mayFollow = workers !== undefined;
  const others = async (): Promise<boolean> => {
    const { offset, frames } = at.progress;
    if (workers === undefined || frames < lookAgain) return false;
    lookAgain = frames * 2;
    const end = Math.min(until ?? Infinity, await log.end(partition));
    // Offsets count bytes in one log and records in another: either way as many frames a piece as so far.
    mayFollow = ((end - offset) / (offset - first)) * frames >= workers.least;
    if (!mayFollow) return false;
    await workers.opened();
    return true;
  };
  const windowSize = openWindowSize();
  const readOptions = {
    checkpoint: at.checkpoint,
    reader,
    heads: batch.heads,
    maxBytes: () => windowSize.bytes,
    maxRecords: () => limits.frames ?? (mayFollow ? SOME_RECORDS : undefined),
    ...defined({ until }),
  };
  for await (const checked of readPartition(log, readOptions)) {
    windowSize.folded(await batch.add(checked, context));
    const { frames, bytes } = batch.total;
    if (!fullBatch(limits, { frames, bytes, rows: batch.rows, age: batch.age() })) continue;
    await flush();
    if (options.stop?.() === true) return 'ended';
    if (await others()) return 'workers';
  }
  if (!batch.isEmpty()) await flush();
  return 'ended';
};

type BatchTotals = {
  readonly frames: number;
  readonly events: number;
  readonly bytes: number;
  readonly next: Checkpoint;
};

type Batch = {
  readonly heads: Heads;
  readonly total: BatchTotals;
  readonly rows: number;
  age(): number;
  isEmpty(): boolean;
  add(checked: CheckedBatch, context: FoldContext): Promise<FoldedCounts>;
  /** Returns the new cursor. */
  commit(): Promise<Uint8Array>;
};

/** The rows and the checkpoint of the frames folded since the last commit. */
const openBatch = (
  generation: Generation,
  partition: number,
  cursor: Uint8Array | null,
  checkpoint: Checkpoint,
  now: () => number,
): Batch => {
  let expected = cursor;
  const openStaged = (): StagedBatch => {
    const source = generation.source({ partition, cursor: expected });
    return Object.assign(stageRows(source), { using: <T>(fn: () => T | Promise<T>) => source.using(fn) });
  };
  /** Rows are not read as one state: if another projector commits meanwhile, some are older than others, and not damaged. */
  const ifUnmoved = async (error: unknown): Promise<never> => {
    if (!isStemmaError(error, 'E_ROWS_DAMAGED')) throw error;
    const stored = await generation.read((view) => view.cursor(partition));
    throw sameCursor(stored, expected)
      ? error
      : fail('E_CURSOR_MOVED', `another projector has read on in partition ${partition}`, { partition });
  };
  let staged = openStaged();
  let since = now();
  let total: BatchTotals = { frames: 0, events: 0, bytes: 0, next: checkpoint };
  return {
    heads: {
      load: (histories) => staged.using(() => readHistoryHeads(staged, histories)),
    },
    get total() {
      return total;
    },
    get rows() {
      return staged.size;
    },
    age: () => now() - since,
    isEmpty: () => total.next === checkpoint && staged.size === 0,
    async add(checked, context) {
      const counts = await foldFrames(checked, staged, context).catch(ifUnmoved);
      const { frames, events, bytes } = counts;
      total = {
        frames: total.frames + frames,
        events: total.events + events,
        bytes: total.bytes + bytes,
        next: checked.checkpoint,
      };
      return counts;
    },
    async commit() {
      const nextCursor = encodeCheckpoint(total.next);
      const changes = staged.changes();
      await generation.commit({ partition, expected, cursor: nextCursor, changes });
      changes.length = 0;
      staged.clear();
      expected = nextCursor;
      staged = openStaged();
      checkpoint = total.next;
      since = now();
      total = { frames: 0, events: 0, bytes: 0, next: checkpoint };
      return nextCursor;
    },
  };
};

/** The checkpoint of a partition's rows; undefined before the first commit. */
export const readCheckpoint = async (
  generation: Generation,
  partition: number,
): Promise<Checkpoint | undefined> => {
  const bytes = await generation.read((view) => view.cursor(partition));
  return bytes === null ? undefined : decodeCheckpoint(bytes);
};
