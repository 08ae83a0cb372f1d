import { fail, isStemmaError } from '@stemma/errors';
import type { Cursor } from './checkpoint.ts';
import type { EventLog, LogRecord } from './port.ts';
import { HASH_BYTES, openRecord, recordHash, sameBytes, type OpenRecord } from './record.ts';

/** How many records before it a cursor remembers. */
export const TAIL_RECORDS = 64;

/** The cursor before the first record of a partition. */
export const cursorAtStart = (log: string, partition: number, offset = 0): Cursor => ({
  log,
  partition,
  offset,
  from: [],
  tail: new Uint8Array(),
});

/** A record with the result of {@link openRecord}. */
export type Opened = { readonly record: LogRecord; readonly open: OpenRecord | undefined };

/** The cursor after these further records. */
export const advanceCursor = (cursor: Cursor, opened: readonly Opened[]): Cursor => {
  const last = opened.at(-1);
  if (!last) return cursor;
  const added = opened.slice(-TAIL_RECORDS);
  const kept = Math.min(cursor.from.length, TAIL_RECORDS - added.length);
  const tail = new Uint8Array((kept + added.length) * HASH_BYTES);
  tail.set(cursor.tail.subarray((cursor.from.length - kept) * HASH_BYTES));
  added.forEach(({ record, open }, i) => {
    tail.set(recordHash(record, open), (kept + i) * HASH_BYTES);
  });
  const from = [...cursor.from.slice(cursor.from.length - kept), ...added.map(({ record }) => record.offset)];
  return { log: cursor.log, partition: cursor.partition, offset: last.record.next, from, tail };
};

/**
 * Reads the remembered records again and compares them: a log can lose its end and then grow past the same offset
 * (record §5).
 *
 * @throws E_CURSOR_LOST if a record differs, the log is another one, or the log does not contain the cursor's offset.
 */
export const checkCursor = async (log: EventLog, cursor: Cursor): Promise<void> => {
  const { partition } = cursor;
  if (cursor.log !== log.id) throw lost(cursor, `it belongs to the log ${cursor.log}, not to ${log.id}`);
  if (partition >= log.partitions) throw lost(cursor, `the log has ${log.partitions} partitions`);
  const [start, end] = [await log.start(partition), await log.end(partition)];
  // A broker that has just restarted may not know its end for a moment; a read at the offset waits for it.
  if (cursor.offset > end && !(await reaches(log, cursor))) throw lost(cursor, `the log ends at ${end}`);
  const from = cursor.from[0] ?? cursor.offset;
  if (from < start) throw lost(cursor, `the log begins at ${start}`);
  let seen = 0;
  for (let at = from; at < cursor.offset;) {
    const { records, next } = await log.read(partition, at);
    for (const record of records) {
      if (record.offset >= cursor.offset) break;
      refuseDifferent(cursor, seen++, record);
    }
    if (next <= at) break;
    at = next;
  }
  if (seen !== cursor.from.length) throw lost(cursor, 'a record before it is gone');
};

const reaches = async (log: EventLog, { partition, offset }: Cursor): Promise<boolean> => {
  try {
    await log.read(partition, offset, { maxBytes: 1 });
    return true;
  } catch (error) {
    if (isStemmaError(error, 'E_CURSOR_LOST')) return false;
    throw error;
  }
};

const refuseDifferent = (cursor: Cursor, i: number, record: LogRecord): void => {
  const expected = cursor.tail.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
  const same =
    cursor.from[i] === record.offset && sameBytes(recordHash(record, openRecord(record.bytes)), expected);
  if (!same) throw lost(cursor, `the record at ${record.offset} is another than the one that was read`);
};

const lost = ({ partition, offset }: Cursor, why: string): Error =>
  fail('E_CURSOR_LOST', `the offset ${offset} of partition ${partition} cannot be trusted: ${why}`, {
    partition,
    offset,
  });
