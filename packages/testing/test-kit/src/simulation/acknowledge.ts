import { readHistoryHeads } from '@stemma/history-store';
import { acknowledgeDamage, closedBy } from '@stemma/log';
import type { SimulatedHome } from './opened.ts';
import type { Simulation } from './simulation.ts';

/** What an operator does who finds a partition closed: the damage is acknowledged, and what it held is gone. */
export const acknowledge = async (
  simulation: Simulation,
  { log, projector }: SimulatedHome,
): Promise<void> => {
  await projector.catchUp();
  for (let partition = 0; partition < log.partitions; partition++) {
    const checkpoint = await projector.checkpoint(partition);
    const closed = checkpoint && closedBy(checkpoint.state);
    if (!closed) continue;
    simulation.count('acknowledged damage');
    const heads = {
      load: (histories: readonly string[]) => projector.read((view) => readHistoryHeads(view, histories)),
    };
    const author = { at: 1n, actor: 'operator', command: `ack:${partition}@${closed.offset}` };
    await acknowledgeDamage(log, checkpoint, heads, { from: closed.offset, to: closed.offset }, author);
  }
};
