import { latin1Bytes } from '@stemma/canonical';
import {
  eachInSubtree,
  NODE_KIND,
  sumOfTurns,
  type NodeRecord,
  type TreeNode,
  type TurnLocation,
  type TurnRecord,
} from '@stemma/context-tree';
import type { AppliedFrame } from '@stemma/history';
import type { RowReader, Rows, ValueOf } from '@stemma/row-store';
import type { Segment } from './ancestor-path.ts';
import type { SnapshotRow } from './list-snapshots.ts';
import type { NetChanges } from './net-changes.ts';
import { numberOfNode } from './sum-records.ts';
import { HASH_SUMS, TURN_SUMS } from './tables.ts';

/** What the rows keep of a turn beside its record. */
export type TurnSumRow = {
  readonly nodes: number;
  readonly blocks: number;
  /** Of the numbers of its nodes, below 2^32. */
  readonly sum: number;
  readonly digest: string | undefined;
  readonly slice: string | undefined;
  /** True if the nodes must be read with the tree. */
  readonly loads: boolean;
};

const MAY_CHANGE = 1;
const CHANGED = 2;

/** Writes what is kept of the turns that a frame, or the commit in it, changed. */
export const foldTurnSums = (
  { history, branchId, seq, snapshot, state: { tree, thread } }: AppliedFrame,
  { nodes, turns }: NetChanges,
  rows: Rows,
): void => {
  const changed = new Set<TreeNode>(snapshot === null ? [] : tree.resummed);
  const noteTurn = (turn: TreeNode | undefined): void => {
    if (turn?.kind === NODE_KIND.turn) changed.add(turn);
  };
  for (const { before, after } of nodes)
    for (const record of [before, after])
      if (record?.location.kind === 'turn') noteTurn(tree.turnAt(record.location));
  for (const { id, after } of turns) if (after !== undefined) noteTurn(tree.get(id));
  for (const turn of changed) {
    const { cycle, ordinal } = (turn.record as TurnRecord).location;
    rows.put(
      TURN_SUMS,
      [history, branchId, cycle, ordinal, seq],
      cellsOf(turn, thread === 'full', snapshot === null ? CHANGED : 0),
    );
  }
  if (snapshot !== null) rows.put(HASH_SUMS, [history, branchId], [seq, tree.turnsSum]);
};

const cellsOf = (turn: TreeNode, sliced: boolean, flags: number): ValueOf<typeof TURN_SUMS> => {
  let [nodes, blocks, sum, loads] = [0, 0, 0, flags];
  eachInSubtree(turn, (node) => {
    const { headers, expires } = node.record as NodeRecord;
    if (headers.refs != null || expires !== null || headers.ttl === 0) loads |= MAY_CHANGE;
    if (node === turn) return;
    nodes++;
    if (node.kind === NODE_KIND.block) blocks++;
    sum = (sum + numberOfNode(node.record as NodeRecord)) | 0;
  });
  const slice = sliced ? bytesOf(turn.slice) : null;
  return [nodes, blocks, sum >>> 0, bytesOf(turn.summed), slice, loads === 0 ? null : loads];
};

const bytesOf = (digest: string | undefined): Uint8Array | null =>
  digest === undefined ? null : latin1Bytes(digest);

const textOf = (bytes: Uint8Array | null): string | undefined =>
  bytes === null ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');

const keyOf = ({ cycle, ordinal }: Pick<TurnLocation, 'cycle' | 'ordinal'>): number | string =>
  ordinal === 0 ? cycle : `${cycle}/${ordinal}`;

type NewestSum = {
  readonly cycle: number;
  readonly from: number;
  readonly value: ValueOf<typeof TURN_SUMS>;
};

/** The column of the value of `turn_sums`. */
const LOADS = TURN_SUMS.value.findIndex(([name]) => name === 'loads') as 5;

const newestSums = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  from: number,
  to: number,
): ReadonlyMap<number | string, NewestSum> => {
  const newest = new Map<number | string, NewestSum>();
  for (const { branchId, limit } of ancestorPath)
    for (const { key, value } of rows.range(TURN_SUMS, { prefix: [history, branchId], from, to })) {
      const [cycle, ordinal, seq] = [key[2], key[3], key[4]];
      const at = keyOf({ cycle, ordinal });
      if (seq <= limit && seq >= (newest.get(at)?.from ?? 0)) newest.set(at, { cycle, from: seq, value });
    }
  return newest;
};

/** A function that gives what is kept of a turn of these cycles at a position. */
export const readTurnSums = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  from: number,
  to: number,
): ((location: TurnLocation) => TurnSumRow | undefined) => {
  const newest = newestSums(rows, history, ancestorPath, from, to);
  return (location) => {
    const value = newest.get(keyOf(location))?.value;
    if (value === undefined) return undefined;
    const [nodes, blocks, sum, digest, slice, loads] = value;
    return {
      nodes,
      blocks,
      sum,
      digest: textOf(digest),
      slice: textOf(slice),
      loads: loads !== null,
    };
  };
};

/**
 * The cycles of the turns into which a commit at a position may have to look, because something in them ends with a cycle, is
 * held, or has refs: of the others nothing grows older.
 */
export const readCyclesToLoad = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  from: number,
  to: number,
): readonly number[] => {
  const cycles = new Set<number>();
  for (const { cycle, value } of newestSums(rows, history, ancestorPath, from, to).values())
    if (value[LOADS] !== null) cycles.add(cycle);
  return [...cycles];
};

/** The sum over the turns at a snapshot: as it is kept, or, at one that is not the newest of its branch, added up. */
export const readTurnsSum = (
  rows: RowReader,
  history: string,
  snapshot: SnapshotRow | undefined,
  digests: Iterable<string | undefined>,
): Uint8Array => {
  const kept = snapshot && rows.get(HASH_SUMS, [history, snapshot.branchId]);
  if (kept?.[0] === snapshot?.seq && kept !== undefined) return kept[1];
  return sumOfTurns([...digests].filter((digest) => digest !== undefined));
};
