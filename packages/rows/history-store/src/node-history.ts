import { listRows, type RowReader } from '@stemma/row-store';
import type { Segment } from './ancestor-path.ts';
import { REGION } from './records.ts';
import { IDS } from './tables.ts';

/** A frame that inserted, removed, changed or moved a node. */
export type NodeHistoryEntry = {
  readonly seq: number;
  readonly branchId: number;
  /** Where it is after the frame; null if it is removed. */
  readonly location: 'sys' | 'turn' | 'fixed' | 'turnItself' | null;
};

const locationOf = (region: number): NodeHistoryEntry['location'] => {
  if (region === REGION.sys) return 'sys';
  if (region === REGION.turn) return 'turn';
  return region === REGION.fixed ? 'fixed' : 'turnItself';
};

/** The frames on an ancestor path that wrote a row for a node, oldest first; the first inserted it. */
export const readNodeHistory = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  id: string,
): readonly NodeHistoryEntry[] => {
  const limits = new Map(ancestorPath.map(({ branchId, limit }) => [branchId, limit]));
  return listRows(rows, IDS, { history, id })
    .filter((row) => row.from <= (limits.get(row.branch_id) ?? -1))
    .map(({ from, branch_id, region }) => ({
      seq: from,
      branchId: branch_id,
      location: region === null ? null : locationOf(region),
    }));
};
