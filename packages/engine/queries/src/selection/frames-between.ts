import { affectedIds, type BranchPosition } from '@stemma/events';
import { readAncestorPath } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listFrameSummaries } from '@stemma/read-models';

/** The ids that frames between two positions of one ancestor path name; frames of other branches do not count. */
export const idsBetween = async (
  projection: Projection,
  history: string,
  older: BranchPosition,
  newer: BranchPosition,
): Promise<ReadonlySet<string>> => {
  const frames = await projection.read((rows) => {
    const limits = new Map(
      readAncestorPath(rows, history, newer.branchId, newer.seq).map(({ branchId, limit }) => [
        branchId,
        limit,
      ]),
    );
    return listFrameSummaries(rows, history, { from: older.seq + 1, to: newer.seq }).filter(
      ({ branchId, seq }) => seq <= (limits.get(branchId) ?? -1),
    );
  });
  const ids = new Set<string>();
  for (const { seq } of frames)
    for (const event of await projection.payloads.events(history, seq))
      for (const id of affectedIds(event)) ids.add(id);
  return ids;
};
