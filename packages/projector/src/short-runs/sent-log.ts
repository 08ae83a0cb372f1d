import { fail } from '@stemma/errors';
import type { EventLog, ReadBatch } from '@stemma/log';
import type { SentRecords } from './messages.ts';

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
  { id, partitions }: Pick<EventLog, 'id' | 'partitions'>,
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
    id,
    partitions,
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

/** What was read, as {@link batchOf} takes it apart. */
export const sentRecords = ({ records, next }: ReadBatch, from: number, epoch: number): SentRecords => {
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + record.bytes.length, 0));
  let at = 0;
  const heads = records.map(({ bytes: own, ...rest }) => {
    bytes.set(own, at);
    at += own.length;
    return { ...rest, length: own.length };
  });
  return { from, next, bytes, records: heads, epoch };
};

const batchOf = ({ records, bytes, next }: SentRecords): ReadBatch => {
  let at = 0;
  return {
    records: records.map(({ length, ...rest }) => {
      const own = bytes.subarray(at, at + length);
      at += length;
      return { ...rest, bytes: own };
    }),
    next,
  };
};
