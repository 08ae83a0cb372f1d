import { attemptAnswer, positionAnswer, type SnapshotPage, type SnapshotSummaryAnswer } from '@stemma/api';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { HistorySummary, SnapshotSummary } from '@stemma/queries';
import { defined } from '@stemma/values';
import { LRUCache } from 'lru-cache';
import { positionDiffs } from './position-diff.ts';

/** Snapshots whose counts are remembered. */
const MAX_COUNTED = 200_000;

type ChangeCounts = { readonly added: number; readonly removed: number };

/** Gives pages of a branch's snapshots, newest first. What came and went at one is counted once and remembered. */
export type SnapshotPages = (
  branchRef: BranchRef,
  page: { readonly limit?: number | undefined; readonly before?: number | undefined },
) => Promise<SnapshotPage>;

export const openSnapshotPages = (home: Home): SnapshotPages => {
  const counted = new LRUCache<string, ChangeCounts>({ maxSize: MAX_COUNTED, sizeCalculation: () => 1 });

  const countMissing = async (
    summary: HistorySummary,
    branchRef: BranchRef,
    ascendingSnapshots: readonly SnapshotSummary[],
  ): Promise<void> => {
    const key = ({ seq }: SnapshotSummary): string => `${branchRef.history}:${seq}`;
    const from = ascendingSnapshots.findIndex((one, i) => i > 0 && counted.get(key(one)) === undefined);
    if (from === -1) return;
    const uncounted = ascendingSnapshots.slice(from - 1);
    const found = await positionDiffs(
      home,
      summary,
      branchRef.branchId,
      uncounted.map(({ seq }) => seq),
    );
    for (const [i, { added, removed }] of found.entries()) {
      const snapshot = uncounted[i + 1];
      if (snapshot !== undefined) counted.set(key(snapshot), { added: added.size, removed: removed.size });
    }
  };

  return async (branchRef, { limit = 50, before }) => {
    const size = Math.max(1, Math.min(limit, 200));
    const summary = await home.read.history(branchRef.history);
    // One more than is shown: the counts of the oldest refer to the one before it.
    const ascendingSnapshots = ascending(
      await home.read.snapshots(branchRef, { limit: size + 1, ...defined({ before }) }),
    );
    const hasMore = ascendingSnapshots.length > size;
    await countMissing(summary, branchRef, ascendingSnapshots);
    const shown = hasMore ? ascendingSnapshots.slice(1) : ascendingSnapshots;
    const counts = (snapshot: SnapshotSummary): ChangeCounts =>
      counted.get(`${branchRef.history}:${snapshot.seq}`) ?? { added: snapshot.nodes, removed: 0 };
    const snapshots = shown.map((one) => snapshotAnswer(one, counts(one))).reverse();
    const newest =
      before === undefined
        ? snapshots[0]?.cycle
        : (await home.read.snapshots(branchRef, { limit: 1 }))[0]?.cycle;
    return {
      history: branchRef.history,
      branch: branchRef.branch,
      newest: newest ?? null,
      oldest: await oldestCycle(home, branchRef, newest),
      working: positionAnswer(await home.position(branchRef)),
      snapshots,
      next: hasMore ? (shown[0]?.cycle ?? null) : null,
    };
  };
};

const ascending = (list: readonly SnapshotSummary[]): readonly SnapshotSummary[] =>
  [...list].sort((a, b) => a.cycle - b.cycle);

/** Cycles of an ancestor path have no gaps, so the oldest is found by halving; it is 1, or the cycle of an import. */
const oldestCycle = async (
  home: Home,
  branchRef: BranchRef,
  newest: number | undefined,
): Promise<number | null> => {
  if (newest === undefined) return null;
  const hasSnapshotBefore = async (before: number): Promise<boolean> =>
    (await home.read.snapshots(branchRef, { before, limit: 1 })).length > 0;
  if (!(await hasSnapshotBefore(2))) {
    let low = 1;
    let high = newest;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await hasSnapshotBefore(middle + 1)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
  return (await hasSnapshotBefore(1)) ? 0 : 1;
};

const snapshotAnswer = (one: SnapshotSummary, { added, removed }: ChangeCounts): SnapshotSummaryAnswer => ({
  label: one.label,
  cycle: one.cycle,
  branchId: one.branchId,
  seq: one.seq,
  treeHash: one.treeHash,
  threadHash: one.threadHash,
  at: one.at,
  author: one.author,
  command: one.command,
  nodes: one.nodes,
  blocks: one.blocks,
  turns: one.turns,
  names: [...one.names],
  added,
  removed,
  calls: one.calls,
  call: one.call && attemptAnswer(one.call),
});
