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

/** The position that a marker names on a lineage's chain. @throws E_SNAPSHOT_NOT_FOUND */
export const positionAt = (
  history: ReferenceHistory,
  strand: number,
  at: Marker,
): { strand: number; seq: number | null } => {
  if (at.kind === 'working') return { strand, seq: null };
  const missing = (what: string): Error => fail('E_SNAPSHOT_NOT_FOUND', `there is no snapshot ${what}`);
  const chain = history.chain(strand);
  if (at.kind === 'all') throw missing('@*');
  if (at.kind === 'name') {
    const named = history.name(at.name);
    if (named === undefined) throw missing(`@name:${at.name}`);
    return named;
  }
  if (at.kind === 's') {
    const frame = history.applied[at.seq];
    if (frame === undefined) throw missing(`@s${at.seq}`);
    return { strand: frame.lineage, seq: at.seq };
  }
  const found = at.kind === 't' ? chain[-at.value] : chain.find(({ cycle }) => cycle === at.cycle);
  if (found === undefined) throw missing(at.kind === 't' ? `@t${at.value}` : `@c${at.cycle}`);
  return found;
};

/** The tree that a reference of the vectors names (`@c3`, or nothing for the working state). */
export const treeAt = (history: ReferenceHistory, strand: number, ref: string): FlatTree => {
  const { at } = parseRef(ref);
  const position = positionAt(history, strand, at);
  return history.tree(position.strand, position.seq);
};

type Snapshot = { readonly cycle: number; readonly strand: number; readonly seq: number };

/** The cycle of the first snapshot on the chain that has a node, found by looking at all of them. */
const appearedOn = (history: ReferenceHistory, chain: readonly Snapshot[], tree: FlatTree) => {
  const trees = chain
    .filter(({ cycle }) => cycle <= tree.cycle)
    .map(({ strand, seq }) => history.tree(strand, seq));
  return (index: number): number =>
    trees.findLast((each) => each.indexOf(tree.ids[index] as string) !== undefined)?.cycle ?? tree.cycle;
};

/** The ids that a selector matches at the position that a reference of the vectors names. */
export const selectAt = (
  history: ReferenceHistory,
  strand: number,
  ref: string,
  selector: Selector,
): readonly string[] => selectIn(history, strand, positionAt(history, strand, parseRef(ref).at), selector);

/** The ids that a selector matches at one position; it is a snapshot if it is one of the chain. */
const selectIn = (
  history: ReferenceHistory,
  strand: number,
  at: { readonly strand: number; readonly seq: number | null },
  selector: Selector,
): readonly string[] => {
  const chain = history.chain(strand);
  const snapshot = history.chain(at.strand).some(({ strand: on, seq }) => on === at.strand && seq === at.seq);
  const tree = history.tree(at.strand, at.seq);
  return select(tree, selector, history.payload, { snapshot, appeared: appearedOn(history, chain, tree) });
};

/** What a selector gives over a range of snapshots, each taken whole. */
const rangeOf = (
  history: ReferenceHistory,
  strand: number,
  text: string,
  selector: Selector & { readonly at: MarkerRange },
  options: RangeOptions,
): RangeResult => {
  const chain = history.chain(strand);
  const snapshots = rangeSnapshots(selector.at, chain[0]?.cycle ?? 0, rangeOptions(options).maxSnapshots);
  const sides = snapshots.map(({ label, cycle }) => {
    const found = chain.find((each) => each.cycle === cycle);
    if (found === undefined) throw fail('E_SNAPSHOT_NOT_FOUND', `there is no snapshot ${label}`);
    const tree = history.tree(found.strand, found.seq);
    return { label, tree, appeared: appearedOn(history, chain, tree) };
  });
  const diffs = rangePairs(sides, options).map(([newer, older]) =>
    rangeDiff(newer, older, selector, history.payload, options),
  );
  return rangeResult(text, snapshots, diffs, options);
};

/** The answer to a selector on a lineage: ids, or the result of a range. @throws coded errors */
export const query = (
  history: ReferenceHistory,
  strand: number,
  text: string,
  options: RangeOptions = {},
): readonly string[] | RangeResult => {
  const selector = parseSelector(text);
  const { at, groups } = selector;
  if (at.kind === 'range') return rangeOf(history, strand, text, { at, groups }, options);
  if (at.kind !== 'all')
    return inWindow(selectIn(history, strand, positionAt(history, strand, at), selector), options);
  const ids = history.chain(strand).flatMap((each) => selectIn(history, strand, each, selector));
  return inWindow([...new Set(ids)], options);
};
