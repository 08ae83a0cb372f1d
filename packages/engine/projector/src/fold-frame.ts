import { UNLOADED, withIds, type PayloadSource } from '@stemma/context-tree';
import { enteredIdsIn, type Frame } from '@stemma/events';
import { applyFrame, type AppliedFrame, type HistoryState, type Sources } from '@stemma/history';
import {
  findFrame,
  foldFrame,
  loadBranchFromRows,
  loadTurns,
  readBranchTip,
  readTipSeq,
  type Fold,
} from '@stemma/history-store';
import {
  decodeBody,
  finishBody,
  missingContents,
  openBody,
  readFrame,
  type AcceptedFrame,
  type ContentSource,
  type DecodedFrames,
} from '@stemma/log';
import { loadingTokenizer, type ReadModel } from '@stemma/read-models';
import type { RowSource, StagedRows } from '@stemma/row-store';
import { fetching, resume, type Fetcher } from '@stemma/suspend';
import type { BranchCache } from './branch-cache.ts';
import { knownKeys, type AddedCounts, type CountingRows, type IsCounted } from './counts/index.ts';
import type { Payloads } from './payloads.ts';

/** What frames are folded with. */
export type FoldContext = {
  /** Folded with every frame. */
  readonly models: readonly ReadModel[];
  /** Folded on demand, but with every frame of the histories for which `eager` is true. */
  readonly onDemand: readonly ReadModel[];
  readonly eager: (history: string, model: string) => boolean;
  readonly isCounted: IsCounted;
  readonly contents: ContentSource;
  /** Frames of this process's own; the others are decoded. */
  readonly decoded: Pick<DecodedFrames, 'take' | 'stop'> | undefined;
  readonly branchCache: BranchCache;
  readonly payloads: Payloads;
  /** Keep the frames' bytes beside the rows. */
  readonly keepFrames: boolean;
  /** Called before each frame; what it returns is awaited. */
  readonly pause: () => Promise<void> | undefined;
};

/** Rows that a batch is about to write, over those that it reads. */
export type StagedBatch = StagedRows & Pick<RowSource, 'using'>;

type ReadableFrame = Pick<AcceptedFrame, 'envelope' | 'bytes' | 'bodyAt'>;

/** A frame with its contents. @throws as `readFrame` */
export const decodeFrame = async (readable: ReadableFrame, contents: ContentSource): Promise<Frame> =>
  decodeWithoutContents(readable, contents) ?? readFrame(readable, contents);

/** The frame, if none of its contents is in the contents store. */
const decodeWithoutContents = (
  { envelope, bytes, bodyAt }: ReadableFrame,
  { sealer }: ContentSource,
): Frame | undefined => {
  const body = decodeBody(envelope.v, bytes, bodyAt);
  const nothing = (): undefined => undefined;
  if (missingContents(body, nothing).length > 0) return undefined;
  return { envelope, body: openBody(envelope, finishBody(body, nothing), sealer) as Frame['body'] };
};

/**
 * Applies a frame, then folds it. Most frames need no payload of another frame and no rows that are not loaded. What was
 * not done before something had to be fetched is done again, and leaves no trace before that.
 */
export const foldFrameInto = async (
  folds: readonly Fold[],
  frame: Frame,
  staged: StagedBatch,
  counts: AddedCounts,
  context: FoldContext,
): Promise<void> => {
  const { history, seq } = frame.envelope;
  const state = context.branchCache.history(history, seq);
  const sources = positionSources(state, staged, context.branchCache);
  const loading = turnsFrom(staged, frame);
  const known = knownKeys(state, seq, folds);
  const savepoint = staged.savepoint();
  let applied: AppliedFrame | undefined;
  let counting: CountingRows | undefined;
  const applyAndFold = (payload: PayloadSource): void => {
    applied ??= applyFrame(state, frame, { payload, ...sources });
    staged.rollbackTo(savepoint);
    counting = counts.counting(history, seq, known);
    for (const each of folds) foldFrame(each, applied, counting.rows, payload);
  };
  const { observed, branchId } = await resume(
    () =>
      context.payloads.using(
        history,
        (payload) =>
          staged.using(() => {
            applyAndFold(payload);
            return applied as AppliedFrame;
          }),
        (_, of) => staged.using(() => findFrame(staged, history, of, context.keepFrames)),
      ),
    loading,
    loadingTokenizer,
  );
  counting?.finish();
  if (!observed) context.branchCache.markUsed(state, branchId);
};

/** Nodes of turns from the rows: those that are needed, and any that have an id that the frame brings. */
const turnsFrom = (staged: StagedBatch, { envelope, body }: Frame): Fetcher =>
  fetching(UNLOADED, (needs) =>
    staged.using(() => loadTurns(staged, envelope.history, withIds(needs, enteredIdsIn(body.events)), null)),
  );

/** Positions come from the rows of frames before this one, written or still staged; there may be rows of later ones. */
const positionSources = (
  { history, next }: HistoryState,
  staged: StagedRows,
  branchCache: BranchCache,
): Omit<Sources, 'payload'> => ({
  position(branchId, seq) {
    const at = seq ?? Math.min(readTipSeq(staged, history, branchId), next - 1);
    const branch = loadBranchFromRows(staged, history, branchId, at);
    branchCache.noteRead(branch.tree.loadedNodes);
    return branch;
  },
  branchTip: (branchId) => (branchId < next ? readBranchTip(staged, history, branchId) : undefined),
});
