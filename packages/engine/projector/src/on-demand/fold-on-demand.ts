import { fail, isStemmaError } from '@stemma/errors';
import { findFrame } from '@stemma/history-store';
import type { ReadModel } from '@stemma/read-models';
import { stageRows, type Generation } from '@stemma/row-store';
import { fullBatch, type BatchLimits } from '../batch-limits.ts';
import { withNextRevision } from '../checkpoint.ts';
import { openAddedCounts } from '../counts/index.ts';
import { decodeFrame, foldFrameInto, type FoldContext } from '../fold-frame.ts';
import type { FrameAt, Readable } from '../recorded-frames.ts';
import { inGeneration } from '../repair.ts';
import { putFolded, readFolded, readFoldedEnd } from './on-demand-rows.ts';

export type FoldOnDemand = {
  readonly generation: Generation;
  readonly context: FoldContext;
  readonly partition: number;
  readonly history: string;
  readonly models: readonly ReadModel[];
  readonly limits: BatchLimits;
  /** A steady clock in milliseconds. */
  readonly now: () => number;
};

/**
 * Folds frames that the history store has into the rows of read models that lack them, and commits one batch. True when
 * they have all of them; false: call it again.
 *
 * The batch moves no cursor of the log, only its revision. So of two processes that fold the same history one commits,
 * and the other begins again; and whoever folds the log meanwhile does too.
 *
 * @throws E_ROWS_DAMAGED, E_CONTENT_MISSING, E_CONTENT_DAMAGED, E_RECORD_DAMAGED, E_HISTORY_ERASED; errors of the disk
 */
export const foldOnDemand = async (options: FoldOnDemand): Promise<boolean> => {
  const { generation, context, history, models, limits, now } = options;
  let at = await readPlace(options);
  if (at.cursor === null || at.first >= at.end) return true;
  const source = generation.source({ partition: options.partition, cursor: at.cursor });
  const staged = Object.assign(stageRows(source), {
    using: <T>(fn: () => T | Promise<T>) => source.using(fn),
  });
  const counts = openAddedCounts(staged, context.isCounted);
  const since = now();
  const framesAhead = openFramesAhead(options, at.end, (of) =>
    staged.using(() => findFrame(staged, history, of, context.keepFrames)),
  );
  let [seq, bytes] = [at.first, 0];
  try {
    for (; seq < at.end; seq++) {
      if (fullBatch(limits, { frames: seq - at.first, bytes, rows: staged.size, age: now() - since })) break;
      const pausing = context.pause();
      if (pausing !== undefined) await pausing;
      const readable = await framesAhead(seq);
      bytes += readable.bytes.length;
      const behind = models.filter((_, i) => (at.next[i] as number) <= seq);
      await foldFrameInto(behind, await decodeFrame(readable, context.contents), staged, counts, context);
    }
  } catch (error) {
    context.branchCache.forget(history);
    // The history store has taken the frame: if it does not fit now, the rows are not what they were.
    throw inGeneration(
      isStemmaError(error, 'E_HISTORY_DEFECTIVE')
        ? fail('E_ROWS_DAMAGED', error.message, error.detail)
        : error,
      generation.name,
    );
  }
  await staged.using(() => counts.write());
  models.forEach(({ name }, i) => {
    if ((at.next[i] as number) < seq) putFolded(staged, history, name, seq);
  });
  for (const { next } = at; ;) {
    try {
      await generation.commit({
        partition: options.partition,
        expected: at.cursor,
        cursor: withNextRevision(at.cursor),
        changes: staged.changes(),
      });
      return seq >= at.end;
    } catch (error) {
      if (!isStemmaError(error, 'E_CURSOR_MOVED')) throw error;
      // Frames that have come meanwhile change nothing of what was folded here, unless somebody else has folded the same.
      at = await readPlace(options);
      if (at.cursor === null || at.next.some((each, i) => each !== next[i])) {
        context.branchCache.forget(history);
        return false;
      }
    }
  }
};

/** Frames that are read at once. */
const READ_TOGETHER = 32;

/** A function that gives frames one after another, and reads several at once. */
const openFramesAhead = (
  { context: { payloads }, history }: FoldOnDemand,
  end: number,
  frameAt: (seq: number) => ReturnType<FrameAt>,
): ((seq: number) => Promise<Readable>) => {
  let ahead: readonly Readable[] = [];
  return async (seq) => {
    if (ahead.length === 0) {
      const count = Math.min(READ_TOGETHER, end - seq);
      const seqs = Array.from({ length: count }, (_, i) => seq + i);
      ahead = await payloads.frames(history, seqs, (_, of) => frameAt(of));
    }
    const [next, ...rest] = ahead as [Readable, ...Readable[]];
    ahead = rest;
    return next;
  };
};

type Place = {
  /** The cursor of the partition; null: the generation was thrown away. */
  readonly cursor: Uint8Array | null;
  /** The `seq` of the first frame that each model lacks, and the lowest of them. */
  readonly next: readonly number[];
  readonly first: number;
  readonly end: number;
};

const readPlace = ({ generation, partition, history, models }: FoldOnDemand): Promise<Place> =>
  generation.read((view) => {
    const next = models.map(({ name }) => readFolded(view, history, name) ?? 0);
    const end = readFoldedEnd(view, history);
    return { cursor: view.cursor(partition), next, first: Math.min(...next), end };
  });
