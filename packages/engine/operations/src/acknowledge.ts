import { fail } from '@stemma/errors';
import { readHistoryHeads } from '@stemma/history-store';
import { acknowledgeDamage, closedBy, type Acknowledged, type RecordRange } from '@stemma/log';
import type { Services } from './services.ts';

/** What was acknowledged, and the offset of a damaged record that still closes the partition; null if it is open. */
export type AcknowledgedDamage = Acknowledged & { readonly closedBy: number | null };

/**
 * Acknowledges the damaged records of a range that close a partition, and so opens it unless others close it, too
 * (record §2).
 *
 * @throws E_NOTHING_TO_ACK, E_RECORD_INTACT as {@link acknowledgeDamage}
 */
export const acknowledge = async (
  { log, projection, clock }: Services,
  partition: number,
  range: RecordRange,
): Promise<AcknowledgedDamage> => {
  await projection.catchUp();
  const checkpoint = await projection.checkpoint(partition);
  if (checkpoint === undefined || partition >= log.partitions)
    throw fail('E_NOTHING_TO_ACK', `there is no damaged record at ${partition}@${range.from}`, {
      partition,
      ...range,
    });
  const heads = {
    load: (histories: readonly string[]) => projection.read((view) => readHistoryHeads(view, histories)),
  };
  const { from, to } = range;
  const done = await acknowledgeDamage(log, checkpoint, heads, range, {
    at: clock(),
    actor: 'operator',
    command: `ack:${partition}@${from === to ? from : `${from}..${to}`}`,
  });
  await projection.catchUp();
  const after = await projection.checkpoint(partition);
  return { ...done, closedBy: (after && closedBy(after.state)?.offset) ?? null };
};
