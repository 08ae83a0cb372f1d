import { fail, isStemmaError } from '@stemma/errors';
import type { Frame } from '@stemma/events';
import {
  checkBranchRows,
  DEFECTS,
  findFrame,
  HISTORY_STORE,
  putFrame,
  putHistoryHead,
} from '@stemma/history-store';
import {
  defectiveAt,
  erasureIn,
  isDefect,
  type AcceptedFrame,
  type CheckedBatch,
  type ContentSource,
  type Erasure,
} from '@stemma/log';
import type { ReadModel } from '@stemma/read-models';
import { putRow, type StagedRows } from '@stemma/row-store';
import type { BranchCache } from './branch-cache.ts';
import { openAddedCounts } from './counts/index.ts';
import { decodeFrame, foldFrameInto, type FoldContext, type StagedBatch } from './fold-frame.ts';
import { putFolded } from './on-demand/index.ts';

/** The totals of a batch of accepted frames. */
export type FoldedCounts = {
  readonly frames: number;
  readonly events: number;
  readonly bytes: number;
  /** Nodes of trees that were not in memory and had to be read from rows. */
  readonly nodesRead: number;
  /** Histories that became defective. */
  readonly defects: number;
};

/**
 * Folds the accepted frames of a batch, and the heads, into staged rows. A frame that cannot be applied makes its
 * history defective: it and all after it write no row; other histories continue (record §2).
 *
 * @throws E_VERSION_NEEDED with the `offset` of the frame in its detail, which in another history may have one before it; errors of
 *   the disk. The staged rows are then half written: the caller must discard them.
 */
export const foldFrames = async (
  batch: Pick<CheckedBatch, 'accepted' | 'heads'>,
  staged: StagedBatch,
  context: FoldContext,
): Promise<FoldedCounts> => {
  const defective = new Map<string, number>();
  const counts = openAddedCounts(staged, context.isCounted);
  const readBefore = context.branchCache.nodesRead;
  let [frames, events, bytes] = [0, 0, 0];
  for (const accepted of byHistory(batch.accepted, context.branchCache)) {
    const { history, seq } = accepted.envelope;
    bytes += accepted.bytes.length;
    frames++;
    if (accepted.control || defective.has(history)) continue;
    const pausing = context.pause();
    if (pausing !== undefined) await pausing;
    const savepoint = staged.savepoint();
    let frame: Frame | undefined;
    try {
      frame = context.decoded?.take(accepted) ?? (await decodeFrame(accepted, context.contents));
      const erasure = erasureIn(frame.body);
      if (erasure !== undefined) throw erasedBelow(history, erasure, context.contents);
      events += frame.body.events.length;
      await foldFrameInto(
        [HISTORY_STORE, ...context.models, ...eagerModels(history, context)],
        frame,
        staged,
        counts,
        context,
      );
      putFrame(staged, accepted, context.keepFrames);
    } catch (error) {
      staged.rollbackTo(savepoint);
      context.branchCache.forget(history);
      if (isStemmaError(error, 'E_ROWS_ERASED')) throw error;
      // Frames before it were read while there was a key, in another process perhaps.
      if (isStemmaError(error, 'E_HISTORY_ERASED') && seq > 0) throw rowsErased(history);
      // Not the frame may be at fault, but the rows it was applied to: then they are built again, and it fits.
      if (frame !== undefined && isStemmaError(error, 'E_HISTORY_DEFECTIVE'))
        await checkRowsBefore(frame, staged, context);
      putFrame(staged, accepted, context.keepFrames);
      if (isStemmaError(error, 'E_VERSION_NEEDED'))
        throw fail(error.code, error.message, { ...error.detail, offset: accepted.offset });
      if (!isDefect(error) && !isStemmaError(error, 'E_KEY_TOO_LONG')) throw error;
      defective.set(history, seq);
      recordDefect(history, seq, error, staged);
    }
  }
  await staged.using(() => counts.write());
  for (const [history, head] of batch.heads) {
    const stopped = defective.get(history);
    const now = stopped === undefined ? head : defectiveAt(head, stopped);
    putHistoryHead(staged, history, now);
    for (const { name } of eagerModels(history, context))
      putFolded(staged, history, name, Math.min(now.next, now.stopped ?? Infinity));
  }
  const nodesRead = context.branchCache.nodesRead - readBefore;
  return { frames, events, bytes, nodesRead, defects: defective.size };
};

/**
 * Frames history by history, each history's in their order, so that a tree which has left memory is loaded once for all of them.
 * Histories that are in memory come first: loading the others may evict them.
 */
const byHistory = (frames: readonly AcceptedFrame[], branches: BranchCache): readonly AcceptedFrame[] => {
  const groups = new Map<string, AcceptedFrame[]>();
  for (const frame of frames) {
    const { history } = frame.envelope;
    const group = groups.get(history);
    if (group === undefined) groups.set(history, [frame]);
    else group.push(frame);
  }
  if (groups.size <= 1) return frames;
  const loaded = [...groups.keys()].filter((history) => branches.has(history));
  return [...new Set([...loaded, ...groups.keys()])].flatMap((history) => groups.get(history) ?? []);
};

const eagerModels = (history: string, { onDemand, eager }: FoldContext): readonly ReadModel[] =>
  onDemand.length === 0 ? onDemand : onDemand.filter(({ name }) => eager(history, name));

/**
 * The rows below hold what is erased: they cannot be patched, they begin anew. Whoever erased may have died before the
 * key was destroyed.
 */
const erasedBelow = (history: string, erasure: Erasure, { sealer }: ContentSource): Error => {
  sealer?.destroy(history, erasure);
  return rowsErased(history);
};

const rowsErased = (history: string): Error =>
  fail('E_ROWS_ERASED', `the rows hold parts of the history ${history}, which was erased`, { history });

/** @throws E_ROWS_DAMAGED if the branch that a frame goes on is not what its newest snapshot recorded */
const checkRowsBefore = async (
  { envelope: { history }, body: { branchId } }: Frame,
  staged: StagedBatch,
  context: FoldContext,
): Promise<void> =>
  context.payloads.using(
    history,
    (payload) => staged.using(() => checkBranchRows(staged, history, branchId, payload)),
    (_, of) => staged.using(() => findFrame(staged, history, of, context.keepFrames)),
  );

const recordDefect = (history: string, seq: number, error: unknown, staged: StagedRows): void => {
  if (!isStemmaError(error)) return;
  const { sha256 = null, size = null } = error.detail as { sha256?: string; size?: number };
  putRow(staged, DEFECTS, { history, seq, code: error.code, message: error.message, sha256, size });
};
