import type { ContentRef } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { ZERO_HASH } from './envelope.ts';
import type { EventLog, LogRecord } from './port.ts';
import { namedContents, type ContentSource } from './read-frame.ts';
import { openRecord, sameBytes, type OpenRecord } from './record.ts';

/* Reading again what was accepted before: a record can be altered long after everybody has read it. */

/** The accepted frames of one history from some frame on, as rows know them. */
export type KnownFrames = {
  /** The offset of each frame's record, in order. */
  readonly offsets: readonly number[];
  /** SHA-256 of the newest frame; 32 zero bytes if there is none. */
  readonly prev: Uint8Array;
};

/** How far a history was read before: the `seq` of the next frame, and SHA-256 of the frame before it. */
export type ReadBack = { readonly next: number; readonly prev: Uint8Array };

export const FROM_START: ReadBack = { next: 0, prev: ZERO_HASH };

/** The first record that keeps a history from being read to its end again, and the `seq` at which it stops. */
type Unreadable = { readonly seq: number; readonly offset: number };

/** About how many bytes to read at once: the records between two frames of a history belong to others. */
const WINDOW = 256 * 1024;

/**
 * A frame whose next one lies so much further is read alone: what lies between belongs to others. The offsets of a log in files count
 * bytes, those of brokers records.
 */
export const nearIn = (log: EventLog): number => (log.isRemote === true ? 16 : 16 * 1024);

/** So many reads are asked of brokers at once: each answer takes as long as the way there and back. */
const AHEAD = 16;

/**
 * The place at which a reader that starts from the beginning would stop in a history; undefined if it gets to its newest
 * known frame. Reads each frame's record once, and looks at what lies between two of them where it is read along.
 */
const findUnreadable = async (
  log: EventLog,
  partition: number,
  history: string,
  { offsets, prev: newest }: KnownFrames,
  since: ReadBack,
  take: (open: OpenRecord, seq: number) => Promise<void>,
): Promise<Unreadable | undefined> => {
  let prev = since.prev;
  const end = since.next + offsets.length;
  const offsetOf = (seq: number): number | undefined => offsets[seq - since.next];
  const near = nearIn(log);
  const readFrom = async (seq: number): Promise<readonly LogRecord[]> => {
    const at = offsetOf(seq) as number;
    const isFar = (offsetOf(seq + 1) ?? Infinity) - at > near;
    return readAt(log, partition, at, isFar ? 1 : WINDOW);
  };
  const apart = Array.from(offsets.keys(), (i) => since.next + i).filter(
    (seq) => (offsetOf(seq) as number) - (offsetOf(seq - 1) ?? -Infinity) > near,
  );
  const records = log.isRemote === true ? readAhead(apart, readFrom) : readFrom;
  for (let seq = since.next; seq < end;) {
    const first = seq;
    for (const record of await records(seq)) {
      const offset = offsetOf(seq);
      if (offset === undefined) break;
      if (record.offset > offset) return { seq, offset };
      if (record.offset < offset) {
        if (record.key === history && !soundRecord(record)) return { seq, offset: record.offset };
        continue;
      }
      const open = soundRecord(record);
      const { envelope } = open ?? {};
      const fits = envelope?.history === history && envelope.seq === seq && sameBytes(envelope.prev, prev);
      if (!open || !fits) return { seq, offset };
      await take(open, seq);
      prev = new Uint8Array(open.hash);
      seq++;
    }
    if (seq === first) return { seq, offset: offsetOf(seq) as number };
  }
  return sameBytes(prev, newest) ? undefined : { seq: end, offset: offsets.at(-1) ?? 0 };
};

/** Reads at some of these frames before they are asked for, in their order; at others when they are. */
const readAhead = <T>(
  frames: readonly number[],
  read: (seq: number) => Promise<T>,
): ((seq: number) => Promise<T>) => {
  const begun = new Map<number, Promise<T>>();
  let next = 0;
  return (seq) => {
    // Those before it came along with others.
    for (const earlier of begun.keys()) if (earlier < seq) begun.delete(earlier);
    for (; next < frames.length && begun.size < AHEAD; next++) {
      const frame = frames[next] as number;
      if (frame < seq) continue;
      const reading = read(frame);
      // Whoever stops before he gets there does not hear of it.
      reading.catch(() => undefined);
      begun.set(frame, reading);
    }
    const found = begun.get(seq);
    begun.delete(seq);
    return found ?? read(seq);
  };
};

/**
 * A frame written after one that can no longer be read, or whose contents are gone, is shown to nobody as soon as rows are
 * rebuilt (record §3.1). @throws E_HISTORY_DAMAGED, E_CONTENT_MISSING
 */
export const refuseUnreadable = async (
  log: EventLog,
  partition: number,
  history: string,
  known: KnownFrames,
  { since = FROM_START, contents }: { readonly since?: ReadBack; readonly contents?: ContentSource } = {},
): Promise<void> => {
  /** The contents that the frames name, each with the first frame that does. */
  const named = new Map<string, { readonly ref: ContentRef; readonly seq: number }>();
  const found = await findUnreadable(log, partition, history, known, since, async (open, seq) => {
    if (contents?.missing === undefined) return;
    for (const ref of await namedContents(open, contents))
      if (!named.has(ref.sha256)) named.set(ref.sha256, { ref, seq });
  });
  if (found)
    throw fail(
      'E_HISTORY_DAMAGED',
      `the history ${history} can no longer be read from frame ${found.seq} on: the record ${partition}@${found.offset} was damaged after it had been read; \`stemma verify\` rebuilds the rows without it`,
      { history, partition, ...found },
    );
  const [lost] =
    named.size === 0 ? [] : ((await contents?.missing?.([...named.values()].map(({ ref }) => ref))) ?? []);
  const seq = lost && named.get(lost.sha256)?.seq;
  if (lost && seq !== undefined)
    throw fail(
      'E_CONTENT_MISSING',
      `the history ${history} can no longer be shown from frame ${seq} on: the content ${lost.sha256} that it names is missing`,
      { history, seq, sha256: lost.sha256 },
    );
};

/** The records from an offset on; none if the log no longer has it. */
const readAt = async (
  log: EventLog,
  partition: number,
  offset: number,
  maxBytes: number,
): Promise<readonly LogRecord[]> => {
  try {
    return (await log.read(partition, offset, { maxBytes, fresh: true })).records;
  } catch (error) {
    if (isStemmaError(error, 'E_CURSOR_LOST')) return [];
    throw error;
  }
};

/** The parts of a record that is what was appended; undefined if it is damaged (record §2). */
const soundRecord = (record: LogRecord): OpenRecord | undefined => {
  if (record.damaged) return undefined;
  const open = openRecord(record.bytes);
  return open?.envelope.history === record.key ? open : undefined;
};

export type DamagedRecords = {
  readonly records: readonly LogRecord[];
  /** The offset up to which the log was read. */
  readonly reached: number;
};

/**
 * The damaged records from one offset to another, in order: every hash is computed, nothing else is looked at.
 *
 * @param isOver asked before each read but the first; true ends the search.
 * @throws E_BUSY if the log returns nothing before `to`
 */
export const damagedRecords = async (
  log: EventLog,
  partition: number,
  { from, to }: { readonly from: number; readonly to: number },
  isOver: () => boolean,
): Promise<DamagedRecords> => {
  const damaged: LogRecord[] = [];
  let at = from;
  while (at < to && (at === from || !isOver())) {
    const { records, next } = await log.read(partition, at, { fresh: true });
    damaged.push(...records.filter((record) => record.offset < to && soundRecord(record) === undefined));
    if (records.length === 0 || next <= at)
      throw fail('E_BUSY', `partition ${partition} returns no record at ${at}, before its end at ${to}`, {
        partition,
        offset: at,
      });
    at = next;
  }
  return { records: damaged, reached: Math.max(Math.min(at, to), from) };
};
