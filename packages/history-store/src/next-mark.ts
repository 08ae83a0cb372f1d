import type { Tree, TreeNode, TurnRecord } from '@stemma/context-tree';

/** So many older places may stand beside the range that a position is read from. */
const MOST_ALSO = 32;

/** A run of dead places shorter than this is read over rather than jumped: it costs less than a wider mark. */
const LEAST_GAP = 8;

export type LivePlaces = { readonly oldestLive: number; readonly also: readonly number[] };

const cycleOf = (turn: TreeNode): number => (turn.record as TurnRecord).place.cycle;

/**
 * The turns of a tree by place. Sealed turns stand in the order of their places; only turns that an import brought with
 * an offset above 0 stand behind them.
 */
const turnsByPlace = (tree: Tree): { readonly turns: readonly TreeNode[]; readonly end: number } => {
  const { turns } = tree;
  const last = turns.at(-1);
  if (last === undefined) return { turns, end: 0 };
  let end = turns.length;
  while (end > 0 && cycleOf(turns[end - 1] as TreeNode) === cycleOf(last)) end--;
  const before = turns[end - 1];
  const strayed = before !== undefined && cycleOf(before) > cycleOf(last);
  return { turns, end: strayed ? end : turns.length };
};

const holdsSomething = (turn: TreeNode | undefined): boolean =>
  turn !== undefined && (turn.kids?.length ?? 0) > 0;

/** The lowest place of a turn, or the open head's. */
export const oldestTurnOf = (tree: Tree): number => {
  const { turns } = tree;
  let oldest = tree.cycle + 1;
  const first = turns[0];
  const last = turns.at(-1);
  if (first !== undefined) oldest = Math.min(oldest, cycleOf(first));
  if (last !== undefined) oldest = Math.min(oldest, cycleOf(last));
  return oldest;
};

/** The first `limit` places from `from` on with something alive, ascending, the open head's last. */
const livePlaces = (tree: Tree, from: number, limit: number): number[] => {
  const { turns, end } = turnsByPlace(tree);
  const places: number[] = [];
  let last = -1;
  for (let i = end; i < turns.length && places.length < limit; i++) {
    const turn = turns[i] as TreeNode;
    const cycle = cycleOf(turn);
    if (cycle >= from && cycle !== last && holdsSomething(turn)) places.push((last = cycle));
  }
  for (let i = lowerBound(turns, end, from); i < end && places.length < limit; i++) {
    const turn = turns[i] as TreeNode;
    const cycle = cycleOf(turn);
    if (cycle > last && holdsSomething(turn)) places.push((last = cycle));
  }
  if (places.length < limit) places.push(tree.cycle + 1);
  return places;
};

const isLive = (tree: Tree, place: number): boolean => livePlaces(tree, place, 1)[0] === place;

const lowerBound = (turns: readonly TreeNode[], end: number, cycle: number): number => {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cycleOf(turns[middle] as TreeNode) < cycle) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Where something is alive after a commit or import (snapshots: oldestLive): the range moves up past what has died; what
 * lives far below the rest goes into `also`, at most 32 places. `added`: places that this frame put something into.
 * Costs a bounded number of steps but for dead places, each of which is passed once in the life of a lineage.
 */
export const liveAfterCommit = (tree: Tree, before: LivePlaces, added: readonly number[]): LivePlaces => {
  const older = below(before, added).filter((place) => isLive(tree, place));
  if (older.length >= MOST_ALSO) return fitting(older, before.oldestLive);
  const found = livePlaces(tree, before.oldestLive, MOST_ALSO + 1 - older.length);
  let jump = 0;
  for (let i = 1; i < found.length; i++)
    if ((found[i] as number) - (found[i - 1] as number) > LEAST_GAP) jump = i;
  return { oldestLive: found[jump] as number, also: [...older, ...found.slice(0, jump)] };
};

/** The same between commits: only what was put into older places is added. */
export const liveAfterAttachment = (before: LivePlaces, added: readonly number[]): LivePlaces =>
  fitting(below(before, added), before.oldestLive);

/** Where there is no room beside the range, it goes down to the youngest of the older places. */
const fitting = (older: readonly number[], oldestLive: number): LivePlaces =>
  older.length <= MOST_ALSO
    ? { oldestLive, also: older }
    : { oldestLive: older[MOST_ALSO] as number, also: older.slice(0, MOST_ALSO) };

const below = (before: LivePlaces, added: readonly number[]): readonly number[] => {
  const news = added.filter((place) => place < before.oldestLive && !before.also.includes(place));
  return news.length === 0 ? before.also : [...before.also, ...new Set(news)].sort((a, b) => a - b);
};
