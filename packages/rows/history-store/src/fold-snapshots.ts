import { eachInSubtree, idOf, type NodeRecord } from '@stemma/context-tree';
import { isOf, namedPosition } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import { findRow, putRow, type Rows } from '@stemma/row-store';
import { liveAfterAttachment, liveAfterCommit, oldestTurnOf, type LiveLocations } from './live-locations.ts';
import { netChanges, type NetChanges } from './net-changes.ts';
import {
  equalPositionMeta,
  positionMetaColumns,
  positionMetaOf,
  readPositionMeta,
  type PositionMeta,
} from './position-meta.ts';
import { fixedCells, nodeCells, REGION, TOMBSTONE, turnCells } from './records.ts';
import { FIXED, numberOfFixed, numberOfNode } from './sum-records.ts';
import {
  BRANCH_NAMES,
  BRANCHES,
  COMMANDS,
  CONFIGS,
  HEADS,
  IDS,
  NAMES,
  POLICIES,
  POSITION_META,
  SNAPSHOTS,
  TURNS,
  VERSIONS,
} from './tables.ts';
import { foldTurnSums } from './turn-sums.ts';

/**
 * Rows under `^sys` beyond twice the living nodes that may exist before a commit rewrites them (snapshots: sys
 * churn).
 */
const SYS_SLACK = 64;

/** Folds an observation: only its command is remembered, like every other. */
export const observeSnapshots = ({ history, command, seq, digest }: AppliedFrame, rows: Rows): void => {
  rows.put(COMMANDS, [history, command], [seq, digest]);
};

/** Writes what one frame changed, and no more (snapshots: writes). */
export const foldSnapshots = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, branchId } = frame;
  rows.put(COMMANDS, [history, frame.command], [seq, frame.digest]);
  const start = foldBranchStart(frame, rows);
  foldNames(frame, rows);
  // A branch without frames of its own reads its parent's rows.
  if (frame.started !== null && frame.started.how !== 'start') return;

  const head = frame.started === null ? rows.get(HEADS, [history, branchId]) : undefined;
  const ownMetaSeq = head?.[1] ?? null;
  const before = start ?? metaBefore(frame, rows, ownMetaSeq);
  const net = netChanges(frame.changes);
  const systemRows = foldSystemRows(frame, before, net, rows);
  foldNodes(frame, net, systemRows.sys, systemRows.rewritten, rows);
  foldTurns(frame, net, rows);
  foldTurnSums(frame, net, rows);
  foldFixed(frame, net, rows);
  foldSnapshot(frame, rows);

  const meta: PositionMeta = {
    ...systemRows,
    ...liveLocationsAfter(frame, before, net),
    ...foldDecisionState(frame, before, rows),
    sum: sumAfter(frame, before, net),
  };
  // The first frame of a branch writes metadata in any case: of its two rows each shows when the other is missing.
  const metaChanged = frame.snapshot !== null || head === undefined || !equalPositionMeta(before, meta);
  if (metaChanged)
    putRow(rows, POSITION_META, { history, branch_id: branchId, seq, ...positionMetaColumns(meta) });
  rows.put(HEADS, [history, branchId], [seq, metaChanged ? seq : ownMetaSeq]);
};

/** The position metadata of a history without a frame. */
const EMPTY_META: PositionMeta = {
  cycle: 0,
  oldestLive: 0,
  olderLive: [],
  oldestTurn: 0,
  newest: 0n,
  nextIndex: 0,
  policy: null,
  config: null,
  sys: 0,
  sysLive: 0,
  sysRows: 0,
  sum: 0,
};

const metaBefore = (
  { history, branchId, seq }: AppliedFrame,
  rows: Rows,
  ownMetaSeq: number | null,
): PositionMeta => {
  const own =
    ownMetaSeq === null
      ? undefined
      : findRow(rows, POSITION_META, { history, branch_id: branchId, seq: ownMetaSeq });
  return own === undefined ? readPositionMeta(rows, history, branchId, seq - 1).meta : positionMetaOf(own);
};

/** Writes the branch that the frame starts; returns the position metadata at its beginning. */
const foldBranchStart = (
  { history, seq, branchId, started, events }: AppliedFrame,
  rows: Rows,
): PositionMeta | undefined => {
  if (started === null) return undefined;
  if (started.how === 'start') {
    const first = events.find((event) => event.type === 'HistoryStarted');
    const thread = first?.thread === 'pre' ? 'pre' : null;
    putRow(rows, BRANCHES, { history, branch_id: branchId, name: 'main', thread });
    rows.put(BRANCH_NAMES, [history, 'main'], [branchId]);
    return EMPTY_META;
  }
  const event = events.find((each) => each.type === 'BranchStarted');
  const name = event?.name ?? null;
  const { parent, at } = started;
  const nearest = readPositionMeta(rows, history, parent, at);
  const { branchId: meta_branch_id, seq: meta_seq } = nearest.at;
  const thread = findRow(rows, BRANCHES, { history, branch_id: parent })?.thread ?? null;
  putRow(rows, BRANCHES, { history, branch_id: seq, parent, at, meta_branch_id, meta_seq, name, thread });
  if (name !== null) rows.put(BRANCH_NAMES, [history, name], [branchId]);
  if (started.how === 'rollback') renameBranch(history, parent, event?.abandoned ?? null, rows);
  return nearest.meta;
};

/** The branch that a rollback abandons loses its name to the new one. */
const renameBranch = (history: string, branchId: number, name: string | null, rows: Rows): void => {
  const row = findRow(rows, BRANCHES, { history, branch_id: branchId });
  if (row === undefined || row.name === name) return;
  putRow(rows, BRANCHES, { ...row, name });
  if (name !== null) rows.put(BRANCH_NAMES, [history, name], [branchId]);
};

const foldNames = ({ history, events }: AppliedFrame, rows: Rows): void => {
  for (const event of events) {
    const named = namedPosition(event);
    if (named !== null) rows.put(NAMES, [history, named.name], [named.branchId, named.seq]);
  }
};

/** True for a record whose own `expires` says that it is gone after this frame. */
const hasExpired = (record: { readonly expires: number | null }, cycle: number): boolean =>
  record.expires !== null && record.expires <= cycle;

const foldNodes = (
  { history, branchId, seq, state }: AppliedFrame,
  { nodes }: NetChanges,
  sys: number,
  rewritten: boolean,
  rows: Rows,
): void => {
  const region = (record: NodeRecord): number => (record.location.kind === 'sys' ? REGION.sys : REGION.turn);
  const locationOf = (record: NodeRecord): number =>
    record.location.kind === 'sys' ? sys : record.location.cycle;
  const key = (record: NodeRecord, id: string): [string, number, number, number, string, number] => [
    history,
    branchId,
    region(record),
    locationOf(record),
    id,
    seq,
  ];
  for (const { id, before, after } of nodes) {
    if (after === undefined) {
      // Plain expiry writes nothing: the row says it. An id that one frame inserted and removed stays taken.
      if (before !== undefined && hasExpired(before, state.tree.cycle)) continue;
      rows.put(IDS, [history, id, seq, branchId], TOMBSTONE);
      if (before !== undefined && !(rewritten && before.location.kind === 'sys'))
        rows.put(VERSIONS, key(before, id), TOMBSTONE);
      continue;
    }
    rows.put(IDS, [history, id, seq, branchId], [region(after), locationOf(after)]);
    rows.put(VERSIONS, key(after, id), nodeCells(after));
    const hasMoved =
      before !== undefined && (region(before) !== region(after) || locationOf(before) !== locationOf(after));
    if (hasMoved && !(rewritten && before.location.kind === 'sys'))
      rows.put(VERSIONS, key(before, id), TOMBSTONE);
  }
};

const foldTurns = (
  { history, branchId, seq, state }: AppliedFrame,
  { turns }: NetChanges,
  rows: Rows,
): void => {
  for (const { id, before, after } of turns) {
    const record = after ?? before;
    if (record === undefined || (after === undefined && hasExpired(record, state.tree.cycle))) {
      if (before === undefined) rows.put(IDS, [history, id, seq, branchId], TOMBSTONE);
      continue;
    }
    const { cycle, ordinal } = record.location;
    rows.put(
      IDS,
      [history, id, seq, branchId],
      after === undefined ? TOMBSTONE : [REGION.turnItself, cycle, ordinal === 0 ? null : ordinal],
    );
    rows.put(
      TURNS,
      [history, branchId, cycle, ordinal, seq],
      after === undefined ? TOMBSTONE : turnCells(after),
    );
  }
};

const foldFixed = (
  { history, branchId, seq, started, state }: AppliedFrame,
  { fixed }: NetChanges,
  rows: Rows,
): void => {
  FIXED.forEach((name, ordinal) => {
    const record = fixed.get(name)?.after ?? (started?.how === 'start' ? state.tree[name].record : undefined);
    if (record === undefined) return;
    const { id } = record.headers;
    rows.put(IDS, [history, id, seq, branchId], [REGION.fixed, 0]);
    rows.put(VERSIONS, [history, branchId, REGION.fixed, 0, id, seq], fixedCells(record, ordinal));
  });
};

const foldSnapshot = ({ history, branchId, seq, snapshot, events }: AppliedFrame, rows: Rows): void => {
  if (snapshot === null) return;
  const { cycle, treeHash, threadHash, counts } = snapshot;
  const index = events.findIndex((event) => isOf(event, 'snapshot'));
  const imported = events[index]?.type === 'SnapshotImported' ? true : null;
  const turnIndex = events.findIndex(({ type }) => type === 'TurnSealed');
  putRow(rows, SNAPSHOTS, {
    ...{ history, branch_id: branchId, cycle, seq },
    ...{ tree_hash: treeHash, thread_hash: threadHash },
    ...{ nodes: counts.nodes, blocks: counts.blocks, turns: counts.turns },
    ...{ index, turn_index: turnIndex === -1 ? null : turnIndex, imported },
  });
};

type SystemRows = Pick<PositionMeta, 'sys' | 'sysLive' | 'sysRows'> & { readonly rewritten: boolean };

/** Counts the rows under `^sys`; a commit that finds too many dead ones rewrites the living under a new number. */
const foldSystemRows = (
  { history, branchId, seq, snapshot, state }: AppliedFrame,
  before: PositionMeta,
  { nodes }: NetChanges,
  rows: Rows,
): SystemRows => {
  let { sysLive, sysRows } = before;
  for (const { before: was, after } of nodes) {
    const wasSys = was?.location.kind === 'sys';
    const isSys = after?.location.kind === 'sys';
    if (isSys && !wasSys) sysLive++;
    if (wasSys && !isSys) sysLive--;
    if (isSys || (wasSys && !(after === undefined && hasExpired(was, state.tree.cycle)))) sysRows++;
  }
  if (snapshot === null || sysRows <= 2 * sysLive + SYS_SLACK)
    return { sys: before.sys, sysLive, sysRows, rewritten: false };
  const { sys } = state.tree;
  eachInSubtree(sys, (node) => {
    if (node !== sys)
      rows.put(
        VERSIONS,
        [history, branchId, REGION.sys, seq, idOf(node), seq],
        nodeCells(node.record as NodeRecord),
      );
  });
  return { sys: seq, sysLive, sysRows: sysLive, rewritten: true };
};

/** The sum of the records that live after the frame: what it wrote comes in, what that replaces goes. */
const sumAfter = (
  { started, state }: AppliedFrame,
  { sum: before }: PositionMeta,
  { nodes, turns, fixed }: NetChanges,
): number => {
  let sum = before;
  for (const { before: was, after } of [...nodes, ...turns]) {
    if (was !== undefined) sum = (sum - numberOfNode(was)) | 0;
    if (after !== undefined) sum = (sum + numberOfNode(after)) | 0;
  }
  // A history begins with records that no change made.
  if (started?.how === 'start')
    for (const name of FIXED) sum = (sum + numberOfFixed(name, state.tree[name].record)) | 0;
  else
    for (const [name, { before: was, after }] of fixed) {
      if (was !== undefined) sum = (sum - numberOfFixed(name, was)) | 0;
      if (after !== undefined) sum = (sum + numberOfFixed(name, after)) | 0;
    }
  return sum >>> 0;
};

const liveLocationsAfter = (
  { state, snapshot }: AppliedFrame,
  before: PositionMeta,
  { nodes }: NetChanges,
): LiveLocations & Pick<PositionMeta, 'oldestTurn'> => {
  const added: number[] = [];
  for (const { after } of nodes)
    if (after?.location.kind === 'turn' && after.location.cycle < before.oldestLive)
      added.push(after.location.cycle);
  const live =
    snapshot === null ? liveAfterAttachment(before, added) : liveAfterCommit(state.tree, before, added);
  return { ...live, oldestTurn: snapshot === null ? before.oldestTurn : oldestTurnOf(state.tree) };
};

const foldDecisionState = (
  { history, seq, events, state }: AppliedFrame,
  before: PositionMeta,
  rows: Rows,
): Pick<PositionMeta, 'cycle' | 'newest' | 'nextIndex' | 'policy' | 'config'> => {
  const configured = events.some((event) => event.type === 'PolicyConfigured');
  if (configured) rows.put(POLICIES, [history, seq], [state.policy]);
  const changed = events.some((event) => event.type === 'ConfigurationChanged');
  if (changed) rows.put(CONFIGS, [history, seq], [state.config]);
  return {
    cycle: state.tree.cycle,
    newest: state.newest,
    nextIndex: state.nextIndex,
    policy: configured ? seq : before.policy,
    config: changed ? seq : before.config,
  };
};
