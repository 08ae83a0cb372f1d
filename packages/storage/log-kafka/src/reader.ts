import { lowerBound } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { LogRecord, ReadBatch, ReadOptions } from '@stemma/log';
import type { KafkaClient } from './protocol/client.ts';
import { decodeBatches } from './protocol/record-batches.ts';

/** Reads one partition from any offset on. */
export type Reader = {
  read(from: number, maxBytes: number, options?: Pick<ReadOptions, 'fresh'>): Promise<ReadBatch>;
  end(): Promise<number>;
  /** Something ends here that the brokers have acknowledged. */
  saw(end: number): void;
  start(): Promise<number>;
  /** Another topic has the name now: where the old one ended says nothing about it. */
  forget(): void;
};

/** Records that lie one behind the other, as they were read; behind the last, gaps reach a little further. */
type Window = { records: LogRecord[]; from: number; to: number; reach: number; bytes: number };

/** Bytes of records that are kept for whoever reads them next: the checks of cursors read the newest again and again. */
const KEPT_BYTES = 8 * 1024 * 1024;
/** Stretches that are kept: where the end is followed, and where others read. */
const KEPT_WINDOWS = 3;
/**
 * A leader that has just come back gives, for a moment, the high watermark that it wrote down last, and so an end before
 * records that it gave and acknowledged. So many milliseconds it may not reach to where a reader wants to go on,
 */
const BEHIND = 1500;
/** and so many to where it was seen itself. To take that for the end would begin histories anew. */
const REGRESSED = 10_000;
/** Milliseconds for which a partition may give nothing at an offset before its end. */
const STUCK = 15_000;

/** @param sawStart is called with where the partition begins now, before a read resolves */
export const openReader = (
  client: Pick<KafkaClient, 'fetch' | 'offset' | 'epoch'>,
  partition: number,
  sawStart: (start: number) => void,
): Reader => {
  let windows: Window[] = [];
  let epoch = client.epoch();
  /** Behind the last record there may be control records, which take offsets and are no records. */
  let gap = { from: -1, to: -1 };
  let highest = 0;

  const windowAt = (from: number): Window | undefined => {
    // After a reconnection or a change of leaders everything is read again (record §5).
    if (client.epoch() !== epoch) {
      windows = [];
      gap = { from: -1, to: -1 };
    }
    epoch = client.epoch();
    return windows.find((window) => from >= window.from && from < window.to);
  };
  const keep = (from: number, reach: number, records: readonly LogRecord[]): void => {
    const size = records.reduce((sum, { bytes }) => sum + bytes.length + 100, 0);
    const before = windows.find((window) => window.reach === from);
    const window = before ?? { records: [], from, to: from, reach, bytes: 0 };
    for (const record of records) window.records.push(record);
    window.to = records.at(-1)?.next ?? from;
    window.reach = reach;
    window.bytes += size;
    let dropped = 0;
    for (; window.bytes > KEPT_BYTES && dropped < window.records.length - records.length; dropped++)
      window.bytes -= (window.records[dropped] as LogRecord).bytes.length + 100;
    if (dropped > 0) {
      window.records.splice(0, dropped);
      window.from = (window.records[0] as LogRecord).offset;
    }
    windows = [window, ...windows.filter((each) => each !== window)].slice(0, KEPT_WINDOWS);
  };

  /** Fetches until there are records, and the offset behind them and the gaps after them; undefined at the end. */
  const fetchOn = async (
    from: number,
    maxBytes: number,
  ): Promise<{ records: readonly LogRecord[]; next: number } | undefined> => {
    const begun = performance.now();
    for (let at = from; ;) {
      const fetched = await client.fetch({ partition, from: at, maxBytes });
      if (fetched.error !== 0) {
        const [start, end] = await Promise.all([
          client.offset(partition, 'start'),
          client.offset(partition, 'end'),
        ]);
        if (
          at < start ||
          (at > end && performance.now() - begun > (at > highest ? BEHIND : REGRESSED)) ||
          at < 0
        )
          throw lost(partition, from, start, end);
        if (performance.now() - begun > STUCK) throw stuck(partition, at, end);
        await pause();
        continue;
      }
      sawStart(fetched.start);
      const { records, next } = decodeBatches(fetched.batches, at);
      highest = Math.max(highest, next);
      if (records.length > 0) return { records, next };
      if (next >= fetched.end && fetched.end < highest) {
        if (performance.now() - begun > REGRESSED) throw lost(partition, from, 0, fetched.end);
        await pause();
      } else if (next >= fetched.end) {
        gap = { from, to: next };
        return undefined;
      } else if (next === at) {
        // There is more, but no whole batch comes: bytes that no longer say how long they are.
        if (performance.now() - begun > STUCK) throw stuck(partition, at, fetched.end);
        await pause();
      }
      at = next;
    }
  };

  const end = async (): Promise<number> => {
    const until = performance.now() + REGRESSED;
    for (;;) {
      const given = await client.offset(partition, 'end');
      if (given < highest && performance.now() < until) {
        await pause();
        continue;
      }
      highest = Math.max(highest, given);
      return given === gap.to ? gap.from : given;
    }
  };

  return {
    read: async (from, maxBytes, { fresh = false } = {}) => {
      if (!Number.isSafeInteger(from) || from < 0) throw lost(partition, from, 0, 0);
      if (fresh) {
        const { records = [] } = (await fetchOn(from, maxBytes)) ?? {};
        return { records, next: records.at(-1)?.next ?? from };
      }
      for (;;) {
        const window = windowAt(from);
        if (window) return cut(window, from, maxBytes);
        // A connection that was made anew meanwhile lets go of what was read: that is not the end.
        const fetched = await fetchOn(from, maxBytes);
        if (fetched === undefined) return { records: [], next: from };
        keep(from, fetched.next, fetched.records);
      }
    },
    end,
    saw: (at) => void (highest = Math.max(highest, at)),
    start: () => client.offset(partition, 'start'),
    forget: () => {
      highest = 0;
      windows = [];
      gap = { from: -1, to: -1 };
    },
  };
};

/** About so many bytes of a window's records, one at least. */
const cut = ({ records }: Window, from: number, maxBytes: number): ReadBatch => {
  const some: LogRecord[] = [];
  let next = lowerBound(0, records.length, (i) => (records[i] as LogRecord).next <= from);
  for (let bytes = 0; next < records.length && (some.length === 0 || bytes < maxBytes); next++) {
    const record = records[next] as LogRecord;
    some.push(record);
    bytes += record.bytes.length;
  }
  return { records: some, next: some.at(-1)?.next ?? from };
};

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

const stuck = (partition: number, offset: number, end: number): Error =>
  fail('E_BUSY', `partition ${partition} returns no record at ${offset}, before its end at ${end}`, {
    partition,
    offset,
  });

const lost = (partition: number, from: number, start: number, end: number): Error =>
  fail('E_CURSOR_LOST', `partition ${partition} has the offsets ${start} to ${end}, not ${from}`, {
    partition,
    offset: from,
    start,
    end,
  });
