import { compareNumbers, type WideJson } from '@stemma/canonical';
import {
  findSnapshot,
  lineageName,
  nearestMark,
  positionIn,
  readConfig,
  readStrand,
  type Position,
} from '@stemma/history-store';
import { findAct, listNames, listNotes, type NamedRow } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { SavedPosition } from './types.ts';

/** The saved positions of a history in the order they were saved. */
export const savedPositions = (rows: RowReader, history: string): readonly SavedPosition[] => {
  const names = [...listNames(rows, history)].sort((a, b) => compareNumbers(a.seq, b.seq));
  const notes = new Map<string, string>();
  for (const { strand, position, seq, note } of listNotes(rows, history)) {
    const key = `${strand}:${position}:${seq}`;
    notes.set(key, notes.get(key) ?? note);
  }
  const byStrand = positionsByStrand(names);
  return names.map((named): SavedPosition => {
    const { name, strand, position: seq } = named;
    const act = findAct(rows, history, named.seq);
    const position = positionIn(rows, history, strand, seq);
    return {
      id: name,
      created_at: Number(act.at / 1_000_000n),
      parent_id: parentOf(rows, history, named, byStrand),
      description: notes.get(`${strand}:${seq}:${named.seq}`) ?? '',
      round_number: position.cycle,
      config: configAt(rows, position),
      metrics: metricsAt(rows, position),
      position,
      lineage: lineageName(rows, history, strand),
      actor: act.actor,
    };
  });
};

/** The general configuration and the policy's fields in force at a position, as one object. */
export const configAt = (
  rows: RowReader,
  { history, strand, seq }: Position,
): { readonly [key: string]: WideJson } => {
  const { config, policy } = readConfig(rows, history, strand, seq);
  return policy === null ? config : { ...config, ...policy, pins: [...policy.pins] };
};

const metricsAt = (rows: RowReader, { history, strand, seq, cycle }: Position): SavedPosition['metrics'] => {
  const snapshot = cycle === null ? undefined : findSnapshot(rows, history, strand, seq, cycle);
  if (snapshot === undefined) return null;
  const { nodes, blocks, turns } = snapshot;
  return { nodes, blocks, turns };
};

type ByStrand = ReadonlyMap<number, readonly NamedRow[]>;

/** By position, and of one position in the order they were saved. */
const positionsByStrand = (names: readonly NamedRow[]): ByStrand => {
  const found = new Map<number, NamedRow[]>();
  for (const named of names) {
    const own = found.get(named.strand);
    if (own === undefined) found.set(named.strand, [named]);
    else own.push(named);
  }
  for (const own of found.values())
    own.sort((a, b) => compareNumbers(a.position, b.position) || compareNumbers(a.seq, b.seq));
  return found;
};

/** The newest saved position before this one on its chain. */
const parentOf = (rows: RowReader, history: string, of: NamedRow, byStrand: ByStrand): string | null => {
  const own = byStrand.get(of.strand) ?? [];
  const before = own[own.indexOf(of) - 1];
  if (before !== undefined) return before.name;
  let { parent } = readStrand(rows, history, of.strand);
  let limit = of.position;
  while (parent !== null) {
    limit = Math.min(limit, parent.at);
    const found = (byStrand.get(parent.strand) ?? []).findLast(({ position }) => position <= limit);
    if (found !== undefined) return found.name;
    ({ parent } = readStrand(rows, history, parent.strand));
  }
  return null;
};

/** True for a position whose cycle says so. */
export const cycleAt = (rows: RowReader, history: string, strand: number, seq: number): number | null => {
  const { cycle } = nearestMark(rows, history, strand, seq).mark;
  return cycle === 0 ? null : cycle;
};
