import { damagedRecords, livesIn, type EventLog } from '@stemma/log';
import type { Projection } from '@stemma/projector';
import type { Finding } from './finding.ts';

/** A record whose bytes have changed. `history` is its key; null if the key cannot be read either. */
export type AlteredRecord = {
  readonly partition: number;
  readonly offset: number;
  readonly history: string | null;
};

export type AlteredRecords = {
  readonly records: readonly AlteredRecord[];
  /** How much was read, if it was not all. */
  readonly findings: readonly Finding[];
};

/** Damaged records that the rows count as good, or do not know. The partitions share the time. */
export const findAltered = async (
  { log, projection }: { readonly log: EventLog; readonly projection: Pick<Projection, 'checkpoint'> },
  milliseconds: number,
  now: () => number = () => performance.now(),
): Promise<AlteredRecords> => {
  const records: AlteredRecord[] = [];
  const findings: Finding[] = [];
  const until = now() + milliseconds;
  for (let partition = 0; partition < log.partitions; partition++) {
    const checkpoint = await projection.checkpoint(partition);
    const known = new Set(checkpoint?.state.damage.map(({ offset }) => offset));
    const to = Math.min(checkpoint?.cursor.offset ?? 0, await log.end(partition));
    const over = now() + (until - now()) / (log.partitions - partition);
    const range = { from: await log.start(partition), to };
    const found = await damagedRecords(log, partition, range, () => now() >= over);
    const where = { partition, partitions: log.partitions };
    for (const { offset, key, keyVouched } of found.records) {
      const isForeign = key !== null && keyVouched && !livesIn(key, where);
      if (!isForeign && !known.has(offset)) records.push({ partition, offset, history: key });
    }
    if (found.reached < to)
      findings.push({
        level: 'note',
        message: `partition ${partition} was read again up to offset ${found.reached} of ${to}: \`stemma verify\` reads all of it`,
      });
  }
  return { records, findings };
};
