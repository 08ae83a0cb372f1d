import { eachInSubtree, idOf, type FixedName, type NodeRecord } from '@stemma/context-tree';
import { namedPosition } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { markCells, markOf, nearestMark, sameMark, type Mark } from './mark.ts';
import { netChanges, type NetChanges } from './net-changes.ts';
import { liveAfterAttachment, liveAfterCommit, oldestTurnOf, type LivePlaces } from './next-mark.ts';
import { fixedCells, nodeCells, REGION, TOMBSTONE, turnCells } from './records.ts';
import { COMMANDS, CONFIGS, HEADS, IDS, LINEAGE_NAMES, MARKS, NAMES, POLICIES, SNAPSHOTS, STRANDS, TURNS, VERSIONS } from './tables.ts';

/** Under `^sys`, more rows than this beside twice the living nodes are written anew (snapshots: sys churn). */
const SYS_SLACK = 64;

const FIXED: readonly FixedName[] = ['root', 'sys', 'seq', 'ah'];

/** Observations change nothing here, but their command is remembered like every other. */
export const observeSnapshots = ({ history, command, seq, digest }: AppliedFrame, rows: Rows): void => {
  rows.put(COMMANDS, [history, command], [seq, digest]);
};

/** Writes what one frame changed, and no more (snapshots: writes). */
export const foldSnapshots = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, lineage: strand } = frame;
  rows.put(COMMANDS, [history, frame.command], [seq, frame.digest]);
  const start = startOf(frame, rows);
  foldNames(frame, rows);
  // A lineage that was only started reads what its parent has.
  if (frame.started !== null && frame.started.how !== 'start') return;

  const head = frame.started === null ? rows.get(HEADS, [history, strand]) : undefined;
  const ownMark = (head?.[1] ?? null) as number | null;
  const before = start ?? markBefore(frame, rows, ownMark);
  const net = netChanges(frame.changes);
  const sys = foldSys(frame, before, net, rows);
  foldNodes(frame, net, sys.sys, sys.anew, rows);
  foldTurns(frame, net, rows);
  foldFixed(frame, net, rows);
  foldSnapshot(frame, rows);

  const mark: Mark = { ...sys, ...livePlaces(frame, before, net), ...decided(frame, before, rows) };
  const marked = frame.snapshot !== null || before === NOTHING || !sameMark(before, mark);
  if (marked) rows.put(MARKS, [history, strand, seq], markCells(mark));
  rows.put(HEADS, [history, strand], [seq, marked ? seq : ownMark]);
};

/** The mark of a history that has no frame. */
const NOTHING: Mark = {
  cycle: 0,
  oldestLive: 0,
  also: [],
  oldestTurn: 0,
  newest: 0n,
  nextIndex: 0,
  policy: null,
  config: null,
  sys: 0,
  sysLive: 0,
  sysRows: 0,
};

const markBefore = ({ history, lineage, seq }: AppliedFrame, rows: Rows, ownMark: number | null): Mark => {
  const own = ownMark === null ? undefined : rows.get(MARKS, [history, lineage, ownMark]);
  return own === undefined ? nearestMark(rows, history, lineage, seq - 1).mark : markOf(own);
};

/** Writes the strand that the frame starts; gives the mark at its beginning. */
const startOf = ({ history, seq, lineage, started, events }: AppliedFrame, rows: Rows): Mark | undefined => {
  if (started === null) return undefined;
  if (started.how === 'start') {
    const first = events.find((event) => event.type === 'HistoryStarted');
    const thread = first?.thread === 'pre' ? 'pre' : null;
    rows.put(STRANDS, [history, lineage], [null, null, null, null, 'main', thread]);
    rows.put(LINEAGE_NAMES, [history, 'main'], [lineage]);
    return NOTHING;
  }
  const event = events.find((each) => each.type === 'LineageStarted');
  const name = event?.name ?? null;
  const { parent, at } = started;
  const nearest = nearestMark(rows, history, parent, at);
  const thread = rows.get(STRANDS, [history, parent])?.[5] ?? null;
  rows.put(STRANDS, [history, seq], [parent, at, nearest.at.strand, nearest.at.seq, name, thread]);
  if (name !== null) rows.put(LINEAGE_NAMES, [history, name], [lineage]);
  if (started.how === 'rollback') rename(history, parent, event?.abandoned ?? null, rows);
  return nearest.mark;
};

/** The lineage that a rollback leaves gives its name away. */
const rename = (history: string, strand: number, name: string | null, rows: Rows): void => {
  const row = rows.get(STRANDS, [history, strand]);
  if (row === undefined || (row[4] ?? null) === name) return;
  rows.put(
    STRANDS,
    [history, strand],
    row.map((cell, i) => (i === 4 ? name : cell)),
  );
  if (name !== null) rows.put(LINEAGE_NAMES, [history, name], [strand]);
};

const foldNames = ({ history, events }: AppliedFrame, rows: Rows): void => {
  for (const event of events) {
    const named = namedPosition(event);
    if (named !== null) rows.put(NAMES, [history, named.name], [named.strand, named.seq]);
  }
};

/** True for a record that says by itself, after this frame, that it is gone. */
const isOver = (record: { readonly expires: number | null }, cycle: number): boolean =>
  record.expires !== null && record.expires <= cycle;

const foldNodes = (
  { history, lineage, seq, state }: AppliedFrame,
  { nodes }: NetChanges,
  sys: number,
  anew: boolean,
  rows: Rows,
): void => {
  const region = (record: NodeRecord): number => (record.place.kind === 'sys' ? REGION.sys : REGION.turn);
  const place = (record: NodeRecord): number => (record.place.kind === 'sys' ? sys : record.place.cycle);
  const key = (record: NodeRecord, id: string): [string, number, number, number, string, number] => [
    history,
    lineage,
    region(record),
    place(record),
    id,
    seq,
  ];
  for (const { id, before, after } of nodes) {
    if (after === undefined) {
      // Plain expiry writes nothing: the row says it. An id that only passed through stays taken all the same.
      if (before !== undefined && isOver(before, state.tree.cycle)) continue;
      rows.put(IDS, [history, id, seq, lineage], TOMBSTONE);
      if (before !== undefined && !(anew && before.place.kind === 'sys'))
        rows.put(VERSIONS, key(before, id), TOMBSTONE);
      continue;
    }
    rows.put(IDS, [history, id, seq, lineage], [region(after), place(after)]);
    rows.put(VERSIONS, key(after, id), nodeCells(after));
    const left = before !== undefined && (region(before) !== region(after) || place(before) !== place(after));
    if (left && !(anew && before.place.kind === 'sys')) rows.put(VERSIONS, key(before, id), TOMBSTONE);
  }
};

const foldTurns = (
  { history, lineage, seq, state }: AppliedFrame,
  { turns }: NetChanges,
  rows: Rows,
): void => {
  for (const { id, before, after } of turns) {
    const record = after ?? before;
    if (record === undefined || (after === undefined && isOver(record, state.tree.cycle))) {
      if (before === undefined) rows.put(IDS, [history, id, seq, lineage], TOMBSTONE);
      continue;
    }
    const { cycle, ordinal } = record.place;
    rows.put(
      IDS,
      [history, id, seq, lineage],
      after === undefined ? TOMBSTONE : [REGION.turnItself, cycle, ordinal === 0 ? null : ordinal],
    );
    rows.put(
      TURNS,
      [history, lineage, cycle, ordinal, seq],
      after === undefined ? TOMBSTONE : turnCells(after),
    );
  }
};

const foldFixed = (
  { history, lineage, seq, started, state }: AppliedFrame,
  { fixed }: NetChanges,
  rows: Rows,
): void => {
  FIXED.forEach((name, ordinal) => {
    const record = fixed.get(name) ?? (started?.how === 'start' ? state.tree[name].record : undefined);
    if (record === undefined) return;
    const { id } = record.headers;
    rows.put(IDS, [history, id, seq, lineage], [REGION.fixed, 0]);
    rows.put(VERSIONS, [history, lineage, REGION.fixed, 0, id, seq], fixedCells(record, ordinal));
  });
};

const foldSnapshot = ({ history, lineage, seq, snapshot }: AppliedFrame, rows: Rows): void => {
  if (snapshot === null) return;
  const { cycle, treeHash, threadHash, counts } = snapshot;
  rows.put(
    SNAPSHOTS,
    [history, lineage, cycle],
    [seq, treeHash, threadHash, counts.nodes, counts.blocks, counts.turns],
  );
};

type Sys = Pick<Mark, 'sys' | 'sysLive' | 'sysRows'> & { readonly anew: boolean };

/** Counts the rows under `^sys`; at a commit that finds too many dead ones the living are written at a new place. */
const foldSys = (
  { history, lineage, seq, snapshot, state }: AppliedFrame,
  before: Mark,
  { nodes }: NetChanges,
  rows: Rows,
): Sys => {
  let { sysLive, sysRows } = before;
  for (const { before: was, after } of nodes) {
    const wasSys = was?.place.kind === 'sys';
    const isSys = after?.place.kind === 'sys';
    if (isSys && !wasSys) sysLive++;
    if (wasSys && !isSys) sysLive--;
    if (isSys || (wasSys && !(after === undefined && isOver(was, state.tree.cycle)))) sysRows++;
  }
  if (snapshot === null || sysRows <= 2 * sysLive + SYS_SLACK)
    return { sys: before.sys, sysLive, sysRows, anew: false };
  const { sys } = state.tree;
  eachInSubtree(sys, (node) => {
    if (node !== sys)
      rows.put(
        VERSIONS,
        [history, lineage, REGION.sys, seq, idOf(node), seq],
        nodeCells(node.record as NodeRecord),
      );
  });
  return { sys: seq, sysLive, sysRows: sysLive, anew: true };
};

const livePlaces = (
  { state, snapshot }: AppliedFrame,
  before: Mark,
  { nodes }: NetChanges,
): LivePlaces & Pick<Mark, 'oldestTurn'> => {
  const added: number[] = [];
  for (const { after } of nodes)
    if (after?.place.kind === 'turn' && after.place.cycle < before.oldestLive) added.push(after.place.cycle);
  const live =
    snapshot === null ? liveAfterAttachment(before, added) : liveAfterCommit(state.tree, before, added);
  return { ...live, oldestTurn: snapshot === null ? before.oldestTurn : oldestTurnOf(state.tree) };
};

const decided = (
  { history, seq, events, state }: AppliedFrame,
  before: Mark,
  rows: Rows,
): Pick<Mark, 'cycle' | 'newest' | 'nextIndex' | 'policy' | 'config'> => {
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
