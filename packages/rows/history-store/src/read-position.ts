import {
  flattenRecords,
  type FixedName,
  type FixedRecord,
  type FixedRecords,
  type FlatTree,
  type NodeLocation,
  type NodeRecord,
  type Policy,
  type TreeParts,
  type TurnRecord,
} from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { BranchParts, Config } from '@stemma/history';
import { listRows, type RowOf, type RowReader } from '@stemma/row-store';
import { readAncestorPath, readBranch, type Branch, type Segment } from './ancestor-path.ts';
import { readPositionMeta, type PositionMeta } from './position-meta.ts';
import { asTree, rowsDiffer } from './rows-differ.ts';
import { isExpired, isTombstone, nodeRowOf, REGION, type TurnCells } from './records.ts';
import { FIXED, sumOfRecords } from './sum-records.ts';
import { CONFIGS, HEADS, POLICIES, POSITION_META, TURNS, VERSIONS } from './tables.ts';

/**
 * The records that live at a position. Of every node's rows on the ancestor path the newest counts; the node is absent
 * if that row is a tombstone or the cycle in its `expires` is reached (snapshots: read).
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readPosition = (rows: RowReader, history: string, branchId: number, seq: number): TreeParts =>
  readWhole(rows, history, branchId, seq, readPositionMeta(rows, history, branchId, seq).meta);

/** Everything that lives at a position, and nothing else. @throws E_ROWS_DAMAGED if rows are missing */
const readWhole = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
  meta: PositionMeta,
): TreeParts => {
  const parts = readSegments(rows, history, readAncestorPath(rows, history, branchId, seq), meta);
  if (sumOfRecords(parts) !== meta.sum) throw rowsDiffer(history, branchId, seq);
  return parts;
};

/** The same as {@link readPosition}, laid flat. */
export const readFlatTree = (rows: RowReader, history: string, branchId: number, seq: number): FlatTree =>
  asTree({ history, branchId, seq }, () => flattenRecords(readPosition(rows, history, branchId, seq)));

/** Locations to read, each an inclusive range of cycles, and whether to read what is under `^sys`. */
export type ReadScope = {
  readonly sys: boolean;
  /** Locations of nodes: the turns that these cycles seal; the open head is that of the cycle after the newest. */
  readonly locations: readonly (readonly [from: number, to: number])[];
  /** Cycles whose turns are read. */
  readonly turns: readonly (readonly [from: number, to: number])[];
};

/** Everything that lives at a position. */
const wholePosition = (meta: PositionMeta): ReadScope => ({
  sys: true,
  locations: [
    ...meta.olderLive.map((location) => [location, location] as const),
    [meta.oldestLive, meta.cycle + 1],
  ],
  turns: [[meta.oldestTurn, meta.cycle]],
});

/** Columns of the key of `versions`. */
const [REGION_COLUMN, LOCATION, NODE, FROM] = [2, 3, 4, 5] as const;

/** The same for an ancestor path and metadata that the caller has read, and for a part of the position. */
export const readSegments = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  meta: PositionMeta,
  scope: ReadScope = wholePosition(meta),
): TreeParts => {
  const newest = new Map<string, RowOf<typeof VERSIONS>>();
  const fixed = new Map<number, { readonly from: number; readonly record: FixedRecord }>();

  const applyRows = (limit: number, found: readonly RowOf<typeof VERSIONS>[]): void => {
    for (const row of found) {
      const from = row.key[FROM];
      if (from > limit) continue;
      const id = row.key[NODE];
      const known = newest.get(id);
      if (known !== undefined) {
        const knownFrom = known.key[FROM];
        // A frame that moves a node leaves a tombstone with the same `from` as the row at the new location.
        if (knownFrom > from || (knownFrom === from && isTombstone(row.value))) continue;
      }
      newest.set(id, row);
    }
  };

  for (const { branchId, limit } of ancestorPath) {
    const inTurns = [history, branchId, REGION.turn] as const;
    for (const [from, to] of scope.locations)
      applyRows(limit, rows.range(VERSIONS, { prefix: inTurns, from, to }));
    if (scope.sys)
      applyRows(limit, rows.range(VERSIONS, { prefix: [history, branchId, REGION.sys, meta.sys] }));
    for (const { key, value } of rows.range(VERSIONS, { prefix: [history, branchId, REGION.fixed] })) {
      const from = key[FROM];
      const { headers, payload, ordinal } = nodeRowOf(key[NODE], value);
      if (from <= limit && from >= (fixed.get(ordinal)?.from ?? 0))
        fixed.set(ordinal, { from, record: { headers, payload } });
    }
  }

  const nodes: NodeRecord[] = [];
  const locationFor = openLocationCache();
  for (const [id, { key, value }] of newest) {
    if (isTombstone(value) || isExpired(value, meta.cycle)) continue;
    const { headers, payload, expires, parent, ordinal } = nodeRowOf(id, value);
    if (payload === null) continue;
    const location = locationFor(key[REGION_COLUMN], key[LOCATION], ordinal);
    nodes.push({ headers, location, parent, expires, payload });
  }
  return {
    cycle: meta.cycle,
    fixed: fixedRecords(history, fixed),
    turns: scope.turns.flatMap(([from, to]) => readTurns(rows, history, ancestorPath, meta.cycle, from, to)),
    nodes,
  };
};

/** The turns of these cycles that live at a position. */
export const readTurns = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  cycleNow: number,
  first: number,
  last: number,
): TurnRecord[] => {
  const newest = new Map<number | string, RowOf<typeof TURNS>>();
  for (const { branchId, limit } of ancestorPath) {
    for (const row of rows.range(TURNS, { prefix: [history, branchId], from: first, to: last })) {
      const [cycle, ordinal, from] = [row.key[2], row.key[3], row.key[4]];
      // Only an import makes several turns in a cycle.
      const location = ordinal === 0 ? cycle : `${cycle}/${ordinal}`;
      const known = newest.get(location);
      if (from > limit || (known !== undefined && from < known.key[4])) continue;
      newest.set(location, row);
    }
  }
  const turns: TurnRecord[] = [];
  for (const { key, value } of newest.values())
    if (!isTombstone(value) && !isExpired(value, cycleNow, 1)) turns.push(turnOf(key[2], key[3], value));
  return turns;
};

/** The turn in a row of `turns`. */
export const turnOf = (cycle: number, ordinal: number, value: TurnCells): TurnRecord => {
  const { headers, payload, expires } = nodeRowOf(value[0] as string, value, 1);
  return {
    headers,
    location: { kind: 'turn', cycle, ordinal },
    expires,
    payload: payload ?? { seq: 0, index: 0 },
  };
};

const fixedRecords = (
  history: string,
  found: ReadonlyMap<number, { readonly record: FixedRecord }>,
): FixedRecords => {
  const records: Partial<Record<FixedName, FixedRecord>> = {};
  FIXED.forEach((name, ordinal) => {
    const each = found.get(ordinal);
    if (each === undefined) throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack ^${name}`, { history });
    records[name] = each.record;
  });
  return records as FixedRecords;
};

/** Returns one object for each location, so that the nodes of a turn share it. */
const openLocationCache = (): ((region: number, location: number, ordinal: number) => NodeLocation) => {
  const sys: NodeLocation = { kind: 'sys', number: 0 };
  let last: NodeLocation = sys;
  return (region, location, ordinal) => {
    if (region === REGION.sys) return sys;
    if (last.kind !== 'turn' || last.cycle !== location || last.ordinal !== ordinal)
      last = { kind: 'turn', cycle: location, ordinal };
    return last;
  };
};

/**
 * The newest frame of a branch, after which its draft is.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND. E_ROWS_DAMAGED if the row of the tip is missing, or the metadata that
 *   it names
 */
export const readTipSeq = (rows: RowReader, history: string, branchId: number): number => {
  const tip = rows.get(HEADS, [history, branchId]);
  const newest = { reverse: true, limit: 1 };
  const [meta] = listRows(rows, POSITION_META, { history, branch_id: branchId }, newest);
  const branch = tip === undefined ? readBranch(rows, history, branchId) : undefined;
  if ((meta?.seq ?? null) !== (tip?.[1] ?? null) || branch?.parent === null)
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack the newest frame of branch ${branchId}`, {
      history,
      branchId,
    });
  return tip === undefined ? branchId : tip[0];
};

/**
 * The state of a branch that commands are decided on and frames checked against, at any position; `seq` null: its tip.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readBranchState = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number | null,
): BranchParts => {
  const branch = readBranch(rows, history, branchId);
  const at = seq ?? readTipSeq(rows, history, branchId);
  const { meta } = readPositionMeta(rows, history, branchId, at);
  return { ...readWhole(rows, history, branchId, at, meta), ...scalarsAt(rows, history, branch, at, meta) };
};

/** What a branch has at a position besides its tree. */
export const scalarsAt = (
  rows: RowReader,
  history: string,
  { branchId, parent, name, thread }: Branch,
  seq: number,
  meta: PositionMeta,
): Omit<BranchParts, keyof TreeParts> => ({
  branchId,
  parent,
  name,
  thread,
  seq,
  newest: meta.newest,
  nextIndex: meta.nextIndex,
  ...configurationAt(rows, history, meta),
});

const configurationAt = (
  rows: RowReader,
  history: string,
  { config, policy }: PositionMeta,
): { readonly config: Config; readonly policy: Policy | null } => ({
  config: (config === null ? {} : (rows.get(CONFIGS, [history, config])?.[0] ?? {})) as Config,
  policy: (policy === null ? null : (rows.get(POLICIES, [history, policy])?.[0] ?? null)) as Policy | null,
});

/**
 * The general configuration and the policy in force at a position.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readConfig = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): { readonly config: Config; readonly policy: Policy | null } =>
  configurationAt(rows, history, readPositionMeta(rows, history, branchId, seq).meta);
