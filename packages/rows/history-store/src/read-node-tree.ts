import { flattenRecords, type FlatTree, type NodeRecord } from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import type { RowReader } from '@stemma/row-store';
import { readAncestorPath, type Segment } from './ancestor-path.ts';
import { findSnapshotOn } from './list-snapshots.ts';
import { openNodeReader } from './node-reader.ts';
import { readPositionMeta, type PositionMeta } from './position-meta.ts';
import { hasTurnsImportedLast } from './read-partial-tree.ts';
import { readFlatTree, readSegments, readTurns } from './read-position.ts';
import { rowsDiffer } from './rows-differ.ts';
import { sumOfNodes } from './sum-records.ts';
import { readTurnSums } from './turn-sums.ts';

/**
 * One node of a position with what contains it and what it contains, laid flat; depths are those of the whole. Undefined if the
 * position does not have the node. Reads the rows of the node's location, and those of the turns after it only if some of them
 * were removed; for `^seq`, which contains every turn, the whole.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND. E_ROWS_DAMAGED if rows of its turn are missing
 */
export const readNodeTree = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
  id: string,
): FlatTree | undefined => {
  const path = readAncestorPath(rows, history, branchId, seq);
  const { meta } = readPositionMeta(rows, history, branchId, seq);
  const found = openNodeReader(rows, { history, ancestorPath: path, cycle: meta.cycle })(id);
  if (found === undefined) return undefined;
  const head = meta.cycle + 1;
  const location = found.kind === 'fixed' ? undefined : found.record.location;
  const cycle = location?.kind === 'turn' ? location.cycle : head;
  const records = readSegments(rows, history, path, meta, {
    sys: location === undefined || location.kind === 'sys',
    locations: location?.kind === 'sys' ? [] : [[cycle, cycle]],
    turns: cycle === head ? [] : [[cycle, cycle]],
  });
  const [turns, nodes] = [[...records.turns], [...records.nodes]];
  if (id === records.fixed.seq.headers.id) return readFlatTree(rows, history, branchId, seq);
  if (cycle === head) return flattenRecords({ ...records, turns, nodes });
  if (hasTurnsImportedLast(rows, history, branchId, seq)) return readFlatTree(rows, history, branchId, seq);
  const living = new Map<number, NodeRecord[]>(turns.map(({ location: { ordinal } }) => [ordinal, []]));
  for (const node of nodes) if (node.location.kind === 'turn') living.get(node.location.ordinal)?.push(node);
  const sumAt = readTurnSums(rows, history, path, cycle, cycle);
  for (const turn of turns) {
    const own = living.get(turn.location.ordinal) ?? [];
    if (sumAt(turn.location)?.sum !== sumOfNodes(own)) throw rowsDiffer(history, branchId, seq);
  }
  const after = countTurnsAfter(rows, history, path, { branchId, seq }, meta, cycle);
  return flattenRecords({ ...records, turns, nodes: [...living.values()].flat() }, after);
};

/** How many turns of a position are newer than those of a cycle. */
const countTurnsAfter = (
  rows: RowReader,
  history: string,
  path: readonly Segment[],
  at: BranchPosition,
  meta: PositionMeta,
  cycle: number,
): number =>
  onlyGrewSince(rows, history, path, at, meta, cycle)
    ? meta.cycle - cycle
    : readTurns(rows, history, path, meta.cycle, cycle + 1, meta.cycle).length;

/**
 * True if it is certain, without a look at the turns, that each cycle since this one made a turn and none was removed: snapshots
 * count turns, and since the newest nothing has changed but the head.
 */
const onlyGrewSince = (
  rows: RowReader,
  history: string,
  path: readonly Segment[],
  { branchId, seq }: BranchPosition,
  meta: PositionMeta,
  cycle: number,
): boolean => {
  const scope = { history, ancestorPath: path, cycle: meta.cycle };
  const [then, newest] = [findSnapshotOn(rows, scope, cycle), findSnapshotOn(rows, scope, meta.cycle)];
  if (then === undefined || newest === undefined) return false;
  if (newest.turns - then.turns !== meta.cycle - cycle) return false;
  if (newest.branchId === branchId && newest.seq === seq) return true;
  const { sum } = readPositionMeta(rows, history, newest.branchId, newest.seq).meta;
  const head = meta.cycle + 1;
  const { nodes } = readSegments(rows, history, path, meta, {
    sys: false,
    locations: [[head, head]],
    turns: [],
  });
  return sumOfNodes(nodes, sum) === meta.sum;
};
