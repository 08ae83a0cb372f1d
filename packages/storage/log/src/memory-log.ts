import { fail } from '@stemma/errors';
import { openPartitions, type RawLog } from './control.ts';
import type { Entry, EventLog, LogRecord } from './port.ts';

export type MemoryLogOptions = { readonly partitions?: number; readonly id?: string; readonly at?: bigint };

/** A log in memory whose records a test can read and change. */
export type MemoryLog = EventLog & {
  /** The records of a partition; their offsets are their indexes. */
  readonly records: (partition: number) => LogRecord[];
};

/** A log in memory, for tests. It is lost when the process ends. */
export const openMemoryLog = async (options: MemoryLogOptions = {}): Promise<MemoryLog> => {
  const partitions = Array.from({ length: options.partitions ?? 1 }, (): LogRecord[] => []);
  const raw = memoryPartitions(partitions);
  const id = await openPartitions(raw, options.id ?? 'memory', options.at ?? 0n);
  return { ...raw, id, records: (partition) => recordsOf(partitions, partition) };
};

const memoryPartitions = (partitions: readonly LogRecord[][]): RawLog => {
  const waiting = new Set<() => void>();
  const newest = new Map<number, LogRecord>();
  let epoch = 0;
  let closed = false;
  const open = (partition: number): LogRecord[] => {
    if (closed) throw fail('E_LOG_CLOSED', 'the memory log was closed');
    return recordsOf(partitions, partition);
  };
  return {
    partitions: partitions.length,
    keepsItsEnd: true,
    append: async (partition, entries) => {
      const records = open(partition);
      const placed = entries.map((entry) => put(records, entry));
      for (const wake of waiting) wake();
      return placed;
    },
    read: async (partition, from, { maxBytes = 1024 * 1024 } = {}) => {
      const records = open(partition);
      if (!Number.isSafeInteger(from) || from < 0 || from > records.length)
        throw fail('E_CURSOR_LOST', `no record begins at ${partition}@${from}`, { partition, offset: from });
      const batch: LogRecord[] = [];
      for (let i = from, bytes = 0; i < records.length && (batch.length === 0 || bytes < maxBytes); i++) {
        const record = records[i] as LogRecord;
        batch.push(record);
        bytes += record.bytes.length;
      }
      return { records: batch, next: from + batch.length };
    },
    end: async (partition) => open(partition).length,
    start: async (partition) => (open(partition), 0),
    epoch: (partition) => {
      // A test that takes records away, or puts others in their place, does what exchanging a file does.
      const records = recordsOf(partitions, partition);
      const seen = newest.get(partition);
      if (seen !== undefined && records[seen.offset] !== seen) epoch++;
      const last = records.at(-1);
      if (last !== undefined) newest.set(partition, last);
      return epoch;
    },
    wait: (partition, from, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          if (!signal.aborted && !closed && recordsOf(partitions, partition).length <= from) return;
          waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        waiting.add(done);
        signal.addEventListener('abort', done);
        done();
      }),
    close: async () => {
      closed = true;
      for (const wake of waiting) wake();
    },
  };
};

const put = (records: LogRecord[], { key, bytes }: Entry): { offset: number; next: number } => {
  const offset = records.length;
  records.push({
    offset,
    next: offset + 1,
    key,
    bytes: new Uint8Array(bytes),
    keyVouched: true,
    damaged: false,
  });
  return { offset, next: offset + 1 };
};

const recordsOf = (partitions: readonly LogRecord[][], partition: number): LogRecord[] => {
  const records = partitions[partition];
  if (!records) throw fail('E_LOG_MISMATCH', `there is no partition ${partition}`);
  return records;
};
