import { echo, fail } from '@stemma/errors';
import { HASH_BYTES, openRecord, recordHash, sameBytes, type Cursor, type EventLog } from '@stemma/log';
import type { BackupPartition } from './manifest.ts';

type Source = BackupPartition['source'];

export const cursorOf = (log: string, partition: number, { offset, from, tail }: Source): Cursor => ({
  log,
  partition,
  offset,
  from,
  tail: new Uint8Array(Buffer.from(tail, 'base64')),
});

export const sourceOf = ({ offset, from, tail }: Cursor): Source => ({
  offset,
  from: [...from],
  tail: Buffer.from(tail).toString('base64'),
});

/**
 * Reads again the records before the place where a backup continues. One that is damaged by now is passed over (the backup
 * has it as it was); one that is another, or gone, means that the log is not the one that was backed up.
 *
 * @throws E_BACKUP_DIFFERS
 */
export const checkSource = async (
  log: EventLog,
  partition: number,
  source: Source,
  place: string,
): Promise<void> => {
  const differs = (why: string): Error =>
    fail('E_BACKUP_DIFFERS', `the log does not continue the backup ${echo(place)}: ${why}`, {
      partition,
      offset: source.offset,
    });
  const end = await log.end(partition);
  if (end < source.offset)
    throw differs(`partition ${partition} ends at ${end}, the backup holds it up to ${source.offset}`);
  const tail = Buffer.from(source.tail, 'base64');
  const expected = new Map(
    source.from.map((offset, i) => [offset, tail.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)]),
  );
  for (let at = source.from[0] ?? source.offset; at < source.offset;) {
    const { records, next } = await log.read(partition, at);
    for (const record of records) {
      if (record.offset >= source.offset) break;
      const open = openRecord(record.bytes);
      const damaged = open === undefined || record.damaged || record.key !== open.envelope.history;
      const hash = expected.get(record.offset);
      if (!damaged && (hash === undefined || !sameBytes(recordHash(record, open), hash)))
        throw differs(`the record ${partition}@${record.offset} is another`);
    }
    if (next <= at) throw differs(`there is no record ${partition}@${at}`);
    at = next;
  }
};
