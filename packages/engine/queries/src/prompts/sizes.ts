import { fail } from '@stemma/errors';
import {
  listSnapshots,
  readBranch,
  readTipSeq,
  type BranchRef,
  type SnapshotRow,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { findFrameSummary, findPromptSize, TOKENIZER_NAME } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import { openMeasures, type Counts } from './measure.ts';
import { sizesOfTimeline } from './sizes-of-timeline.ts';
import type { PromptSize, PromptSizes, SizesOptions } from './sizes-types.ts';

/**
 * What calls on a branch's ancestor path were shown, in messages and tokens, oldest first. Of a full thread each has a row with its
 * size; of histories whose thread is not full, all are summed up from the beginning.
 */
export const listPromptSizes = async (
  projection: Projection,
  branchRef: BranchRef,
  counts: Counts,
  { after = -1, limit = Infinity }: SizesOptions = {},
): Promise<PromptSizes> => {
  const { history, branchId } = branchRef;
  const found = await projection.read((rows) => {
    const seq = readTipSeq(rows, history, branchId);
    const page = limit === Infinity ? {} : { limit: limit + 1 };
    const from = { first: 'oldest', from: after + 1, ...page } as const;
    const snapshots = listSnapshots(rows, history, branchId, seq, from);
    const hasMore = snapshots.length > limit;
    const shown = hasMore ? snapshots.slice(0, limit) : snapshots;
    const isFull = readBranch(rows, history, branchId).thread === 'full';
    return {
      hasMore,
      to: shown.at(-1)?.cycle ?? after,
      sizes: isFull ? shown.map((snapshot) => sizeOf(rows, history, snapshot)) : null,
    };
  });
  const { hasMore, to } = found;
  const sizes =
    found.sizes ??
    (await sizesOfTimeline(projection, branchRef, await openMeasures(projection, history, counts), {
      after,
      to,
    }));
  return { tokenizer: TOKENIZER_NAME, hasMore, sizes };
};

const sizeOf = (rows: RowReader, history: string, { cycle, branchId, seq }: SnapshotRow): PromptSize => {
  const size = findPromptSize(rows, history, { branchId, seq });
  if (size?.turn == null || size.head === null)
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack the size of the call of cycle ${cycle}`, {
      history,
      cycle,
    });
  const { messages, tokens, roles, entered, removed, sys, turn, head } = size;
  const at = millisecondsOf(findFrameSummary(rows, history, seq).at);
  const regions = { sys, earlier: tokens - sys - turn - head, turn, head };
  return { cycle, branchId, seq, at, messages, tokens, roles, entered, removed, regions };
};
