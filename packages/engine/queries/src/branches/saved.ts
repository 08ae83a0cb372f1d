import { compareNumbers, lowerBound, type WideJson } from '@stemma/canonical';
import {
  branchAddressOf,
  findSnapshot,
  positionOfFrame,
  readBranch,
  readConfig,
  readPositionMeta,
  type Position,
} from '@stemma/history-store';
import { findFrameSummary, listNamedPositions, listNotes, type NamedPositionRow } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import type { SavedPosition } from './types.ts';

/** The saved positions of a history in the order they were saved. */
export const savedPositions = (rows: RowReader, history: string): readonly SavedPosition[] => {
  const names = [...listNamedPositions(rows, history)].sort((a, b) => compareNumbers(a.seq, b.seq));
  const notes = new Map<string, string>();
  for (const { branchId, position, seq, note } of listNotes(rows, history)) {
    const key = `${branchId}:${position}:${seq}`;
    notes.set(key, notes.get(key) ?? note);
  }
  const namesByBranch = groupByBranch(names);
  const before = namesBefore(namesByBranch);
  return names.map((named): SavedPosition => {
    const { name, branchId, position: seq } = named;
    const frameSummary = findFrameSummary(rows, history, named.seq);
    const position = positionOfFrame(rows, history, branchId, seq);
    return {
      id: name,
      created_at: millisecondsOf(frameSummary.at),
      parent_id: before.get(named)?.name ?? findNameAbove(rows, history, named, namesByBranch),
      description: notes.get(`${branchId}:${seq}:${named.seq}`) ?? '',
      round_number: position.cycle,
      config: configAt(rows, position),
      metrics: metricsAt(rows, position),
      position,
      branch: branchAddressOf(rows, history, branchId),
      branchId,
      actor: frameSummary.actor,
    };
  });
};

/** The general configuration and the policy's fields in force at a position, as one object. */
export const configAt = (
  rows: RowReader,
  { history, branchId, seq }: Position,
): { readonly [key: string]: WideJson } => {
  const { config, policy } = readConfig(rows, history, branchId, seq);
  return policy === null ? config : { ...config, ...policy, pins: [...policy.pins] };
};

const metricsAt = (
  rows: RowReader,
  { history, branchId, seq, cycle }: Position,
): SavedPosition['metrics'] => {
  const snapshot = cycle === null ? undefined : findSnapshot(rows, history, branchId, seq, cycle);
  if (snapshot === undefined) return null;
  const { nodes, blocks, turns } = snapshot;
  return { nodes, blocks, turns };
};

type NamesByBranch = ReadonlyMap<number, readonly NamedPositionRow[]>;

/** The names by position; those of one position in the order they were saved. */
const groupByBranch = (names: readonly NamedPositionRow[]): NamesByBranch => {
  const found = new Map<number, NamedPositionRow[]>();
  for (const named of names) {
    const own = found.get(named.branchId);
    if (own === undefined) found.set(named.branchId, [named]);
    else own.push(named);
  }
  for (const own of found.values())
    own.sort((a, b) => compareNumbers(a.position, b.position) || compareNumbers(a.seq, b.seq));
  return found;
};

/** For each saved position the one before it on its branch. */
const namesBefore = (namesByBranch: NamesByBranch): ReadonlyMap<NamedPositionRow, NamedPositionRow> => {
  const found = new Map<NamedPositionRow, NamedPositionRow>();
  for (const own of namesByBranch.values())
    own.forEach((named, i) => {
      const before = own[i - 1];
      if (before !== undefined) found.set(named, before);
    });
  return found;
};

/** The name of the newest saved position above the branch of this one, on its ancestor path. */
const findNameAbove = (
  rows: RowReader,
  history: string,
  named: NamedPositionRow,
  namesByBranch: NamesByBranch,
): string | null => {
  let { parent } = readBranch(rows, history, named.branchId);
  let limit = named.position;
  while (parent !== null) {
    const at: number = (limit = Math.min(limit, parent.at));
    const above = namesByBranch.get(parent.branchId) ?? [];
    const newer = lowerBound(0, above.length, (i) => (above[i] as NamedPositionRow).position <= at);
    const found = above[newer - 1];
    if (found !== undefined) return found.name;
    ({ parent } = readBranch(rows, history, parent.branchId));
  }
  return null;
};

/** True for a position whose cycle says so. */
export const cycleAt = (rows: RowReader, history: string, branchId: number, seq: number): number | null => {
  const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
  return cycle === 0 ? null : cycle;
};
