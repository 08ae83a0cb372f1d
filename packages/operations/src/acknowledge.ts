import { fail } from '@stemma/errors';
import { readHistoryHeads } from '@stemma/history-store';
import { acknowledgeDamage } from '@stemma/log';
import type { Services } from './services.ts';

/** Opens a partition that a damaged record of unknown history closed (record §2). @throws E_NOTHING_TO_ACK */
export const acknowledge = async (
  { log, projection, clock }: Services,
  partition: number,
  offset: number,
): Promise<void> => {
  await projection.catchUp();
  const checkpoint = await projection.checkpoint(partition);
  if (checkpoint === undefined || partition >= log.partitions)
    throw fail('E_NOTHING_TO_ACK', `there is no damaged record at ${partition}@${offset}`, {
      partition,
      offset,
    });
  const heads = {
    load: (histories: readonly string[]) => projection.read((view) => readHistoryHeads(view, histories)),
  };
  await acknowledgeDamage(log, checkpoint, heads, offset, {
    at: clock(),
    actor: 'operator',
    command: `ack:${partition}@${offset}`,
  });
  await projection.catchUp();
};
