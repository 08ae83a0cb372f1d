import { fail } from '@stemma/errors';
import type { EventLog, LogRecord, ReadBatch } from '@stemma/log';
import type { SentRecords, DescribedHistory } from './messages.ts';

/** A log that another thread reads. */
export type SentLog = EventLog & {
  /** The next read of a partition begins with these records. */
  begin(partition: number, first: SentRecords): void;
};

export type RecordSource = {
  readonly records: (partition: number, from: number, maxBytes: number | undefined) => Promise<SentRecords>;
  readonly bounds: (partition: number) => Promise<{ readonly start: number; readonly end: number }>;
};

export const openSentLog = (
  log: Pick<EventLog, 'id' | 'partitions' | 'isRemote'>,
  source: RecordSource,
): SentLog => {
  const firsts = new Map<number, SentRecords>();
  const epochs = new Map<number, number>();
  const received = (partition: number, records: SentRecords): SentRecords => {
    epochs.set(partition, records.epoch);
    return records;
  };
  const refuse = (): never => {
    throw fail('E_INTERNAL', 'this log is only read');
  };
  return {
    ...log,
    keepsItsEnd: false,
    begin: (partition, first) => void firsts.set(partition, received(partition, first)),
    read: async (partition, from, { maxBytes } = {}) => {
      const first = firsts.get(partition);
      if (first?.from === from && maxBytes === undefined) {
        firsts.delete(partition);
        return batchOf(first);
      }
      return batchOf(received(partition, await source.records(partition, from, maxBytes)));
    },
    end: async (partition) => (await source.bounds(partition)).end,
    start: async (partition) => (await source.bounds(partition)).start,
    epoch: (partition) => epochs.get(partition) ?? 0,
    append: refuse,
    wait: refuse,
    close: refuse,
  };
};

/** Numbers of a record in `heads`: offset, next, length, and these two added up. */
const HEAD = 4;
const KEY_VOUCHED = 1;
const DAMAGED = 2;

/** What was read, as {@link batchOf} takes it apart. */
export const sentRecords = (
  { records, next }: ReadBatch,
  from: number,
  epoch: number,
  described: readonly DescribedHistory[] = [],
): SentRecords => {
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + record.bytes.length, 0));
  const heads = new Float64Array(records.length * HEAD);
  const keys: (string | null)[] = [];
  let at = 0;
  for (const [i, record] of records.entries()) {
    const { length } = record.bytes;
    const flags = (record.keyVouched ? KEY_VOUCHED : 0) + (record.damaged ? DAMAGED : 0);
    heads.set([record.offset, record.next, length, flags], i * HEAD);
    keys.push(record.key);
    bytes.set(record.bytes, at);
    at += length;
  }
  return { from, next, bytes, heads, keys, epoch, described };
};

const batchOf = ({ keys, heads, bytes, next }: SentRecords): ReadBatch => {
  let at = 0;
  const record = (key: string | null, i: number): LogRecord => {
    const head = i * HEAD;
    const length = heads[head + 2] as number;
    const flags = heads[head + 3] as number;
    const own = bytes.subarray(at, at + length);
    at += length;
    return {
      offset: heads[head] as number,
      next: heads[head + 1] as number,
      key,
      bytes: own,
      keyVouched: (flags & KEY_VOUCHED) > 0,
      damaged: (flags & DAMAGED) > 0,
    };
  };
  return { records: keys.map(record), next };
};
