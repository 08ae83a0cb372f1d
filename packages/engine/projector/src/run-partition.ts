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
import { sameCursor, stageRows, type Generation, type RowStore } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { fullBatch, type BatchLimits } from './batch-limits.ts';
import { decodeCheckpoint, encodeCheckpoint } from './checkpoint.ts';
import type { FoldContext, StagedBatch } from './fold-frame.ts';
import { foldFrames, type FoldedCounts } from './fold-frames.ts';
import { openWindowSize } from './window-size.ts';

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
  /** Stop at this offset; default: the end of the log when the run reaches it. */
  readonly until?: number;
  readonly committed: (progress: Progress) => void;
  /** Called after each commit: true stops the run there. @param first the offset at which the run began */
  readonly stop?: (at: Progress, first: number) => boolean | Promise<boolean>;
  /** Records that are folded at once, at most. Default: those of a batch. */
  readonly maxRecords?: () => number | undefined;
  /** A steady clock in milliseconds. */
  readonly now: () => number;
};

/** A run as a projector asks for it, with all that whoever folds it elsewhere needs of the projector. */
export type PartitionRun = Omit<RunPartitionOptions, 'stop' | 'maxRecords'> & {
  readonly store: RowStore;
  /** Bytes of trees to cache. */
  readonly cacheBytes: number;
  /** Called after each commit: true stops the run there. */
  readonly stop?: () => boolean;
};

/** The port of what folds the runs of projectors: their own thread (`inThisThread`), or others. */
export type RunPartition = {
  /** Resolves when the rows of the run are committed. @throws as `runPartition` */
  readonly run: (run: PartitionRun) => Promise<unknown>;
  /** Ends what it has started, before the store is closed. */
  readonly close: () => Promise<void>;
};

/**
 * Reads a partition from the rows' checkpoint on, checks and folds frames, and commits rows, heads and the checkpoint
 * in one batch. Ends at the end of the log, or after a record that closes the partition.
 *
 * @throws E_CURSOR_MOVED if another projector was faster: run again. E_CURSOR_LOST: rebuild. E_VERSION_NEEDED: the
 *   frames before the unknown one are committed. After any error caches may hold what was not committed: clear them.
 */
export const runPartition = (options: RunPartitionOptions): Promise<Progress> =>
  toUnknownFrame(options, foldPartition);

export const inThisThread: RunPartition = { run: runPartition, close: () => Promise.resolve() };

/** Does a run, and, if it meets a frame of a later version, once more to that frame. @throws what `run` throws */
export const toUnknownFrame = async <R extends Pick<RunPartitionOptions, 'until' | 'context'>>(
  options: R,
  run: (options: R) => Promise<Progress>,
): Promise<Progress> => {
  try {
    return await run(options);
  } catch (error) {
    // The batch with the unknown frame was discarded: the frames before it can still be folded.
    const offset = isStemmaError(error, 'E_VERSION_NEEDED') ? error.detail['offset'] : undefined;
    if (typeof offset !== 'number' || offset >= (options.until ?? Infinity)) throw error;
    clearCaches(options.context);
    // Frames are folded history by history: another history may have an unknown one before this.
    await toUnknownFrame({ ...options, until: offset }, run);
    throw error;
  }
};

export const clearCaches = ({ branchCache: branches }: FoldContext): void => branches.clear();

/** As `runPartition`, but frames before one of a later version may not be committed. */
export const foldPartition = async (options: RunPartitionOptions): Promise<Progress> => {
  const { log, generation, context, partition, reader, limits, until, now } = options;
  const known = options.trustKnown ? generation.knownCursor?.(partition) : undefined;
  const cursor = known ?? (await generation.read((view) => view.cursor(partition)));
  const checkpoint = cursor === null ? await checkpointAtStart(log, partition) : decodeCheckpoint(cursor);
  const { offset } = checkpoint.cursor;
  let progress: Progress = { partition, offset, frames: 0, events: 0, batches: 0 };
  const batch = openBatch(generation, partition, cursor, checkpoint, now);
  const flush = async (): Promise<void> => {
    const { frames, events, next } = batch.total;
    await batch.commit();
    progress = {
      partition,
      offset: next.cursor.offset,
      frames: progress.frames + frames,
      events: progress.events + events,
      batches: progress.batches + 1,
    };
    options.committed(progress);
  };
  const windowSize = openWindowSize();
  const readOptions = {
    checkpoint,
    reader,
    heads: batch.heads,
    maxBytes: () => windowSize.bytes,
    maxRecords: () => limits.frames ?? options.maxRecords?.(),
    ...defined({ until }),
  };
  for await (const checked of readPartition(log, readOptions)) {
    windowSize.folded(await batch.add(checked, context));
    const { frames, bytes } = batch.total;
    if (!fullBatch(limits, { frames, bytes, rows: batch.rows, age: batch.age() })) continue;
    await flush();
    const stopping = options.stop?.(progress, offset);
    if (stopping === true || (stopping instanceof Promise && (await stopping))) return progress;
  }
  if (!batch.isEmpty()) await flush();
  return progress;
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
  commit(): Promise<void>;
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
