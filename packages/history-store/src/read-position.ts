import type { WideJson } from '@stemma/canonical';
import {
  flattenRecords,
  type FixedName,
  type FixedRecord,
  type FixedRecords,
  type FlatTree,
  type NodeRecord,
  type Place,
  type Policy,
  type TreeParts,
  type TurnRecord,
} from '@stemma/context-tree';
import type { Config, LineageParts } from '@stemma/history';
import type { Row, RowReader } from '@stemma/row-store';
import { readChain, readStrand, type Link } from './chain.ts';
import { nearestMark, type Mark } from './mark.ts';
import { isTombstone, recordedOf, REGION, type Recorded } from './records.ts';
import { CONFIGS, HEADS, POLICIES, TURNS, VERSIONS } from './tables.ts';

/**
 * The records that live at a position: of every node's rows over the whole chain the newest counts; it is absent if
 * that is a tombstone or its cycle has come (snapshots: read).
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const readPosition = (rows: RowReader, history: string, strand: number, seq: number): TreeParts =>
  readLinks(
    rows,
    history,
    readChain(rows, history, strand, seq),
    nearestMark(rows, history, strand, seq).mark,
  );

/** As {@link readPosition}, laid flat. */
export const readFlatTree = (rows: RowReader, history: string, strand: number, seq: number): FlatTree =>
  flattenRecords(readPosition(rows, history, strand, seq));

/** Places to read, each a range of cycles with both ends, and whether what is under `^sys` is read. */
export type Part = {
  readonly sys: boolean;
  /** Where nodes lie: the turns that these cycles seal, the open head being that of the cycle after the newest. */
  readonly places: readonly (readonly [from: number, to: number])[];
  /** Cycles whose turns are read. */
  readonly turns: readonly (readonly [from: number, to: number])[];
};

/** Everything that lives at a position. */
const whole = (mark: Mark): Part => ({
  sys: true,
  places: [...mark.also.map((place) => [place, place] as const), [mark.oldestLive, mark.cycle + 1]],
  turns: [[mark.oldestTurn, mark.cycle]],
});

/** The same for a chain and a mark that the caller knows, and for a part of the position. */
export const readLinks = (
  rows: RowReader,
  history: string,
  chain: readonly Link[],
  mark: Mark,
  part: Part = whole(mark),
): TreeParts => {
  const newest = new Map<
    string,
    { readonly from: number; readonly recorded: Recorded | null; readonly place: Place }
  >();
  const fixed = new Map<number, { readonly from: number; readonly record: FixedRecord }>();
  const places = sharedPlaces();

  const take = (limit: number, found: readonly Row[]): void => {
    for (const { key, value } of found) {
      const [, , region, place, id, from] = key as [string, number, number, number, string, number];
      if (from > limit) continue;
      const known = newest.get(id);
      const recorded = isTombstone(value) ? null : recordedOf(id, value);
      // A frame that moves a node leaves a tombstone behind with the same `from` as the row at the new place.
      if (known !== undefined && (known.from > from || (known.from === from && recorded === null))) continue;
      newest.set(id, { from, recorded, place: places(region, place, recorded?.ordinal ?? 0) });
    }
  };

  for (const { strand, limit } of chain) {
    const inTurns = [history, strand, REGION.turn] as const;
    for (const [from, to] of part.places) take(limit, rows.range(VERSIONS, { prefix: inTurns, from, to }));
    if (part.sys) take(limit, rows.range(VERSIONS, { prefix: [history, strand, REGION.sys, mark.sys] }));
    for (const { key, value } of rows.range(VERSIONS, { prefix: [history, strand, REGION.fixed] })) {
      const from = key[5] as number;
      const { headers, payload, ordinal } = recordedOf(key[4] as string, value);
      if (from <= limit && from >= (fixed.get(ordinal)?.from ?? 0))
        fixed.set(ordinal, { from, record: { headers, payload } });
    }
  }

  const nodes: NodeRecord[] = [];
  for (const { recorded, place } of newest.values()) {
    if (recorded === null || (recorded.expires !== null && recorded.expires <= mark.cycle)) continue;
    const { headers, payload, expires, parent } = recorded;
    if (payload !== null) nodes.push({ headers, place, parent, expires, payload });
  }
  return {
    cycle: mark.cycle,
    fixed: fixedRecords(fixed),
    turns: part.turns.flatMap(([from, to]) => readTurns(rows, history, chain, mark.cycle, from, to)),
    nodes,
  };
};

/** The turns that some cycles sealed and that live at a position. */
export const readTurns = (
  rows: RowReader,
  history: string,
  chain: readonly Link[],
  cycleNow: number,
  first: number,
  last: number,
): TurnRecord[] => {
  const newest = new Map<string, { readonly from: number; readonly record: TurnRecord | null }>();
  for (const { strand, limit } of chain) {
    for (const { key, value } of rows.range(TURNS, { prefix: [history, strand], from: first, to: last })) {
      const [, , cycle, ordinal, from] = key as [string, number, number, number, number];
      const place = `${cycle}/${ordinal}`;
      if (from > limit || from < (newest.get(place)?.from ?? 0)) continue;
      newest.set(place, { from, record: isTombstone(value) ? null : turnOf(cycle, ordinal, value) });
    }
  }
  const turns: TurnRecord[] = [];
  for (const { record } of newest.values())
    if (record !== null && (record.expires === null || record.expires > cycleNow)) turns.push(record);
  return turns;
};

/** The turn that a row of `turns` stands for. */
export const turnOf = (cycle: number, ordinal: number, value: Row['value']): TurnRecord => {
  const { headers, payload, expires } = recordedOf(value[0] as string, value, 1);
  return {
    headers,
    place: { kind: 'turn', cycle, ordinal },
    expires,
    payload: payload ?? { seq: 0, index: 0 },
  };
};

const NAMES: readonly FixedName[] = ['root', 'sys', 'seq', 'ah'];

const fixedRecords = (found: ReadonlyMap<number, { readonly record: FixedRecord }>): FixedRecords => {
  const records: Partial<Record<FixedName, FixedRecord>> = {};
  NAMES.forEach((name, ordinal) => {
    const each = found.get(ordinal);
    if (each !== undefined) records[name] = each.record;
  });
  return records as FixedRecords;
};

/** One object a place, so that the nodes of a turn share it. */
const sharedPlaces = (): ((region: number, place: number, ordinal: number) => Place) => {
  const sys: Place = { kind: 'sys', number: 0 };
  let last: Place = sys;
  return (region, place, ordinal) => {
    if (region === REGION.sys) return sys;
    if (last.kind !== 'turn' || last.cycle !== place || last.ordinal !== ordinal)
      last = { kind: 'turn', cycle: place, ordinal };
    return last;
  };
};

/** The newest frame of a lineage: where its working state is. @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND */
export const readHead = (rows: RowReader, history: string, strand: number): number => {
  const head = rows.get(HEADS, [history, strand]);
  return head === undefined ? readStrand(rows, history, strand).strand : (head[0] as number);
};

/**
 * A lineage as commands are decided and frames are checked on, at any position; `seq` null: at its newest frame.
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const readLineage = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number | null,
): LineageParts => {
  const { parent, name, thread } = readStrand(rows, history, strand);
  const at = seq ?? readHead(rows, history, strand);
  const { mark } = nearestMark(rows, history, strand, at);
  const parts = readLinks(rows, history, readChain(rows, history, strand, at), mark);
  return {
    ...parts,
    strand,
    parent,
    name,
    thread,
    seq: at,
    newest: mark.newest,
    nextIndex: mark.nextIndex,
    ...configured(rows, history, mark),
  };
};

const configured = (
  rows: RowReader,
  history: string,
  { config, policy }: Mark,
): { readonly config: Config; readonly policy: Policy | null } => ({
  config: (config === null ? {} : (rows.get(CONFIGS, [history, config])?.[0] ?? {})) as Config,
  policy: (policy === null
    ? null
    : (rows.get(POLICIES, [history, policy])?.[0] ?? null)) as WideJson as Policy | null,
});

/**
 * The general configuration and the policy in force at a position.
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const readConfig = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
): { readonly config: Config; readonly policy: Policy | null } =>
  configured(rows, history, nearestMark(rows, history, strand, seq).mark);
