import { affectedIds } from '@stemma/events';
import { readChain, type WalkStop } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { listActs } from '@stemma/read-models';

/** The ids that the frames between two snapshots of one chain name, in the frames that count on that chain. */
export const idsBetween = async (
  projector: ServedRows,
  history: string,
  older: WalkStop,
  newer: WalkStop,
): Promise<ReadonlySet<string>> => {
  const frames = await projector.read((rows) => {
    const limits = new Map(
      readChain(rows, history, newer.strand, newer.seq).map(({ strand, limit }) => [strand, limit]),
    );
    return listActs(rows, history, { from: older.seq + 1, to: newer.seq }).filter(
      ({ strand, seq }) => seq <= (limits.get(strand) ?? -1),
    );
  });
  const ids = new Set<string>();
  for (const { seq } of frames)
    for (const event of await projector.payloads.events(history, seq))
      for (const id of affectedIds(event)) ids.add(id);
  return ids;
};
