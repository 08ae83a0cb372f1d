import { lowerBound } from '@stemma/canonical';
import type { Tree, TreeNode, TurnRecord } from '@stemma/context-tree';

/** The largest number of older locations beside the range that a position is read from. */
const MAX_OLDER_LIVE = 32;

/** A run of dead locations shorter than this is read, not skipped: it costs less than larger position metadata. */
const MIN_GAP = 8;

export type LiveLocations = { readonly oldestLive: number; readonly olderLive: readonly number[] };

const cycleOf = (turn: TreeNode): number => (turn.record as TurnRecord).location.cycle;

/**
 * The turns of a tree by location. Sealed turns are in the order of their locations; only turns that an import brought
 * with an offset above 0 come after them.
 */
const turnsByLocation = (tree: Tree): { readonly turns: readonly TreeNode[]; readonly end: number } => {
  const { turns } = tree;
  const last = turns.at(-1);
  if (last === undefined) return { turns, end: 0 };
  let end = turns.length;
  while (end > 0 && cycleOf(turns[end - 1] as TreeNode) === cycleOf(last)) end--;
  const before = turns[end - 1];
  const importedLast = before !== undefined && cycleOf(before) > cycleOf(last);
  return { turns, end: importedLast ? end : turns.length };
};

/** The lowest location of a turn, or that of the open head. */
export const oldestTurnOf = (tree: Tree): number => {
  const { turns } = tree;
  let oldest = tree.cycle + 1;
  const first = turns[0];
  const last = turns.at(-1);
  if (first !== undefined) oldest = Math.min(oldest, cycleOf(first));
  if (last !== undefined) oldest = Math.min(oldest, cycleOf(last));
  return oldest;
};

/** The first `limit` locations from `from` on that hold living nodes, ascending, the open head last. */
const listLiveLocations = (tree: Tree, from: number, limit: number): number[] => {
  const { turns, end } = turnsByLocation(tree);
  const locations: number[] = [];
  let last = -1;
  for (let i = end; i < turns.length && locations.length < limit; i++) {
    const turn = turns[i] as TreeNode;
    const cycle = cycleOf(turn);
    if (cycle >= from && cycle !== last && tree.hasKids(turn)) locations.push((last = cycle));
  }
  const first = lowerBound(0, end, (i) => cycleOf(turns[i] as TreeNode) < from);
  for (let i = first; i < end && locations.length < limit; i++) {
    const turn = turns[i] as TreeNode;
    const cycle = cycleOf(turn);
    if (cycle > last && tree.hasKids(turn)) locations.push((last = cycle));
  }
  if (locations.length < limit) locations.push(tree.cycle + 1);
  return locations;
};

const isLive = (tree: Tree, location: number): boolean =>
  listLiveLocations(tree, location, 1)[0] === location;

/**
 * The locations with living nodes after a commit or import (snapshots: oldestLive): the range moves up past dead
 * locations; living ones far below the rest go into `olderLive`, at most 32. `added` are the locations that this frame
 * put nodes into. Costs a bounded number of steps, except for dead locations, each passed once in the life of a branch.
 */
export const liveAfterCommit = (
  tree: Tree,
  before: LiveLocations,
  added: readonly number[],
): LiveLocations => {
  const older = olderLocations(before, added).filter((location) => isLive(tree, location));
  if (older.length >= MAX_OLDER_LIVE) return boundedLiveLocations(older, before.oldestLive);
  const found = listLiveLocations(tree, before.oldestLive, MAX_OLDER_LIVE + 1 - older.length);
  let start = 0;
  for (let i = 1; i < found.length; i++)
    if ((found[i] as number) - (found[i - 1] as number) > MIN_GAP) start = i;
  return { oldestLive: found[start] as number, olderLive: [...older, ...found.slice(0, start)] };
};

/** The same between commits: adds the older locations that got nodes. */
export const liveAfterAttachment = (before: LiveLocations, added: readonly number[]): LiveLocations =>
  boundedLiveLocations(olderLocations(before, added), before.oldestLive);

/** With too many older locations, the range is extended down to the youngest of them. */
const boundedLiveLocations = (older: readonly number[], oldestLive: number): LiveLocations =>
  older.length <= MAX_OLDER_LIVE
    ? { oldestLive, olderLive: older }
    : { oldestLive: older[MAX_OLDER_LIVE] as number, olderLive: older.slice(0, MAX_OLDER_LIVE) };

const olderLocations = (before: LiveLocations, added: readonly number[]): readonly number[] => {
  const newLocations = added.filter(
    (location) => location < before.oldestLive && !before.olderLive.includes(location),
  );
  return newLocations.length === 0
    ? before.olderLive
    : [...before.olderLive, ...new Set(newLocations)].sort((a, b) => a - b);
};
