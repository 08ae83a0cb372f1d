import type { FlatTree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import {
  inWindow,
  parseRef,
  parseSelector,
  rangeDiff,
  rangeOptions,
  rangePairs,
  rangeResult,
  rangeSnapshots,
  select,
  type Marker,
  type MarkerRange,
  type RangeOptions,
  type RangeResult,
  type Selector,
} from '@stemma/selectors';
import type { ReferenceHistory } from '../reference-history.ts';

/** The position that a marker names on a branch's ancestor path. @throws E_SNAPSHOT_NOT_FOUND */
export const positionAt = (
  history: ReferenceHistory,
  branchId: number,
  at: Marker,
): { branchId: number; seq: number | null } => {
  if (at.kind === 'working') return { branchId, seq: null };
  const missing = (what: string): Error => fail('E_SNAPSHOT_NOT_FOUND', `there is no snapshot ${what}`);
  const ancestorSnapshots = history.ancestorSnapshots(branchId);
  if (at.kind === 'all') throw missing('@*');
  if (at.kind === 'name') {
    const named = history.name(at.name);
    if (named === undefined) throw missing(`@name:${at.name}`);
    return named;
  }
  if (at.kind === 's') {
    const frame = history.applied[at.seq];
    if (frame === undefined) throw missing(`@s${at.seq}`);
    return { branchId: frame.branchId, seq: at.seq };
  }
  const found =
    at.kind === 't'
      ? ancestorSnapshots[-at.value]
      : ancestorSnapshots.find(({ cycle }) => cycle === at.cycle);
  if (found === undefined) throw missing(at.kind === 't' ? `@t${at.value}` : `@c${at.cycle}`);
  return found;
};

/** The tree that a reference of the vectors names (`@c3`, or nothing for the working state). */
export const treeAt = (history: ReferenceHistory, branchId: number, ref: string): FlatTree => {
  const { at } = parseRef(ref);
  const position = positionAt(history, branchId, at);
  return history.tree(position.branchId, position.seq);
};

type Snapshot = { readonly cycle: number; readonly branchId: number; readonly seq: number };

/** The cycle of the first snapshot on the ancestor path that has a node, found by looking at all of them. */
const firstAppearance = (
  history: ReferenceHistory,
  ancestorSnapshots: readonly Snapshot[],
  tree: FlatTree,
) => {
  const trees = ancestorSnapshots
    .filter(({ cycle }) => cycle <= tree.cycle)
    .map(({ branchId, seq }) => history.tree(branchId, seq));
  return (index: number): number =>
    trees.findLast((each) => each.indexOf(tree.ids[index] as string) !== undefined)?.cycle ?? tree.cycle;
};

/** The ids that a selector matches at the position that a reference of the vectors names. */
export const selectAt = (
  history: ReferenceHistory,
  branchId: number,
  ref: string,
  selector: Selector,
): readonly string[] =>
  selectIn(history, branchId, positionAt(history, branchId, parseRef(ref).at), selector);

/** The ids that a selector matches at one position; it is a snapshot if it is one of the ancestor path. */
const selectIn = (
  history: ReferenceHistory,
  branchId: number,
  at: { readonly branchId: number; readonly seq: number | null },
  selector: Selector,
): readonly string[] => {
  const ancestorSnapshots = history.ancestorSnapshots(branchId);
  const snapshot = history
    .ancestorSnapshots(at.branchId)
    .some(({ branchId: on, seq }) => on === at.branchId && seq === at.seq);
  const tree = history.tree(at.branchId, at.seq);
  return select(tree, selector, history.payload, {
    snapshot,
    appeared: firstAppearance(history, ancestorSnapshots, tree),
  });
};

/** What a selector gives over a range of snapshots, each taken whole. */
const rangeOf = (
  history: ReferenceHistory,
  branchId: number,
  text: string,
  selector: Selector & { readonly at: MarkerRange },
  options: RangeOptions,
): RangeResult => {
  const ancestorSnapshots = history.ancestorSnapshots(branchId);
  const snapshots = rangeSnapshots(
    selector.at,
    ancestorSnapshots[0]?.cycle ?? 0,
    rangeOptions(options).maxSnapshots,
  );
  const sides = snapshots.map(({ label, cycle }) => {
    const found = ancestorSnapshots.find((each) => each.cycle === cycle);
    if (found === undefined) throw fail('E_SNAPSHOT_NOT_FOUND', `there is no snapshot ${label}`);
    const tree = history.tree(found.branchId, found.seq);
    return { label, tree, appeared: firstAppearance(history, ancestorSnapshots, tree) };
  });
  const diffs = rangePairs(sides, options).map(([newer, older]) =>
    rangeDiff(newer, older, selector, history.payload, options),
  );
  return rangeResult(text, snapshots, diffs, options);
};

/** The answer to a selector on a branch: ids, or the result of a range. @throws coded errors */
export const query = (
  history: ReferenceHistory,
  branchId: number,
  text: string,
  options: RangeOptions = {},
): readonly string[] | RangeResult => {
  const selector = parseSelector(text);
  const { at, groups } = selector;
  if (at.kind === 'range') return rangeOf(history, branchId, text, { at, groups }, options);
  if (at.kind !== 'all')
    return inWindow(selectIn(history, branchId, positionAt(history, branchId, at), selector), options);
  const ids = history
    .ancestorSnapshots(branchId)
    .flatMap((each) => selectIn(history, branchId, each, selector));
  return inWindow([...new Set(ids)], options);
};
