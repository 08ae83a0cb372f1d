import {
  type KeptSums,
  type NodeRecord,
  type PayloadSource,
  type PartialTree,
  type TreeNode,
  type TurnRecord,
  type Unloaded,
} from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import { loadBranch, type BranchState } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { collect } from '@stemma/suspend';
import { readAncestorPath, readBranch } from './ancestor-path.ts';
import { newestSnapshot } from './list-snapshots.ts';
import { locationOf, mergeRanges } from './read-partial-tree.ts';
import { readPositionMeta } from './position-meta.ts';
import { readSegments, readTipSeq, readTurns, scalarsAt } from './read-position.ts';
import { asTree, rowsDiffer } from './rows-differ.ts';
import { sumOfRecords } from './sum-records.ts';
import { readTurnsSum, readTurnSums } from './turn-sums.ts';

/*
 * A branch is loaded with its open head, what is under `^sys`, and the turns into which a commit may have to look; of the
 * other turns there are the record and what is kept in `turn_sums`. Their nodes are read when something needs them.
 */

/** The position whose rows a tree was loaded from. */
const origins = new WeakMap<PartialTree, BranchPosition>();

/**
 * The state of a branch as rows have it; `seq` null: at its tip. Its tree throws Missing (`UNLOADED`) for nodes that
 * {@link loadTurns} must add.
 *
 * @throws E_ROWS_DAMAGED if the rows do not make a tree. E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const loadBranchFromRows = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number | null,
): BranchState =>
  asTree({ history, branchId, seq: seq ?? -1 }, () => {
    const found = readBranch(rows, history, branchId);
    const at = seq ?? readTipSeq(rows, history, branchId);
    const { meta } = readPositionMeta(rows, history, branchId, at);
    const path = readAncestorPath(rows, history, branchId, at);
    const turns = readTurns(rows, history, path, meta.cycle, meta.oldestTurn, meta.cycle);
    const sumAt = readTurnSums(rows, history, path, meta.oldestTurn, meta.cycle);
    const sums = turns.map(({ location }) => sumAt(location));
    const loads = new Set(
      turns.flatMap(({ location }, i) => (sums[i]?.loads === true ? [location.cycle] : [])),
    );
    const records = readSegments(rows, history, path, meta, {
      sys: true,
      locations: mergeRanges([...loads, meta.cycle + 1].map((cycle) => [cycle, cycle] as const)),
      turns: [],
    });
    let sum = sumOfRecords({ ...records, turns });
    const kept: KeptSums['turns'][number][] = [];
    turns.forEach(({ location }, i) => {
      const own = sums[i];
      if (own === undefined) throw rowsDiffer(history, branchId, at);
      const loaded = loads.has(location.cycle);
      if (!loaded) sum += own.sum;
      kept.push({ ...own, loaded });
    });
    if (sum % 2 ** 32 !== meta.sum) throw rowsDiffer(history, branchId, at);
    const digests = kept.map(({ digest }) => digest);
    const turnsSum = readTurnsSum(rows, history, newestSnapshot(rows, history, branchId, at), digests);
    const branch = loadBranch(
      { ...records, turns, ...scalarsAt(rows, history, found, at, meta) },
      { sum: turnsSum, turns: kept },
    );
    origins.set(branch.tree, { branchId, seq: at });
    return branch;
  });

/**
 * Adds to trees from {@link loadBranchFromRows} the nodes that they lack. With `source` they are compared with the digests that
 * the rows keep, without it the next commit does that.
 *
 * @throws E_ROWS_DAMAGED if they are not those that were summed; Missing (payloads)
 */
export const loadTurns = (
  rows: RowReader,
  history: string,
  needs: Iterable<Unloaded>,
  source: PayloadSource | null,
): void => {
  const byTree = new Map<PartialTree, Set<number>>();
  for (const need of needs) {
    const { tree } = need;
    const cycles = byTree.get(tree) ?? new Set();
    byTree.set(tree, cycles);
    if ('turn' in need) cycles.add((need.turn.record as TurnRecord).location.cycle);
    else {
      const { branchId, seq } = originOf(tree);
      const location = locationOf(rows, history, branchId, seq, need.id);
      if (typeof location === 'number') cycles.add(location);
      // A node of a turn that is loaded now is no longer looked for, if it was removed since.
      tree.noteAbsent(need.id);
    }
  }
  for (const [tree, cycles] of byTree) loadCycles(rows, history, tree, cycles, source);
};

const originOf = (tree: PartialTree): BranchPosition => {
  const origin = origins.get(tree);
  if (origin === undefined) throw new TypeError('the tree was not loaded from rows');
  return origin;
};

const loadCycles = (
  rows: RowReader,
  history: string,
  tree: PartialTree,
  cycles: ReadonlySet<number>,
  source: PayloadSource | null,
): void => {
  if (cycles.size === 0) return;
  const { branchId, seq } = originOf(tree);
  const wanted = new Map<string, { readonly turn: TreeNode; readonly nodes: NodeRecord[] }>();
  for (const turn of tree.turns) {
    const { cycle, ordinal } = (turn.record as TurnRecord).location;
    if (cycles.has(cycle) && !tree.isLoaded(turn)) wanted.set(`${cycle}/${ordinal}`, { turn, nodes: [] });
  }
  if (wanted.size === 0) return;
  const { meta } = readPositionMeta(rows, history, branchId, seq);
  const { nodes } = readSegments(rows, history, readAncestorPath(rows, history, branchId, seq), meta, {
    sys: false,
    locations: mergeRanges([...cycles].map((cycle) => [cycle, cycle] as const)),
    turns: [],
  });
  for (const node of nodes)
    if (node.location.kind === 'turn')
      wanted.get(`${node.location.cycle}/${node.location.ordinal}`)?.nodes.push(node);
  asTree({ history, branchId, seq }, () => {
    // What all of them lack is fetched at once: the rows are read again after that.
    collect((attempt) => {
      for (const each of wanted.values())
        attempt(({ turn, nodes: own }) => tree.load(turn, own, source), each, undefined);
    });
  });
};
