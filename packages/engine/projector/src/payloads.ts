import { PAYLOADS, type EventRef, type Payload, type PayloadSource } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { payloadIn } from '@stemma/history';
import {
  decodeEnvelope,
  openRecord,
  type OpenRecord,
  partitionOf,
  readFrame,
  type ContentSource,
  type EventLog,
} from '@stemma/log';
import { fetching, missing, resume } from '@stemma/suspend';
import { LRUCache } from 'lru-cache';
import { type FramesAt, readFrameBytes, readFrameRecords } from './frame-bytes.ts';

/** Reads payloads from the log, or from the rows if they keep the frames; caches the frames used last. */
export type Payloads = {
  /**
   * The result of `fn` with all the payloads it reads from its source: it is called again each time some had to be
   * fetched. `frameAt` finds frames whose rows are not written yet.
   *
   * @throws E_RECORD_DAMAGED, E_CONTENT_MISSING, E_CONTENT_DAMAGED, E_SNAPSHOT_NOT_FOUND, and what `fn` throws
   */
  using<T>(history: string, fn: (source: PayloadSource) => T | Promise<T>, frameAt?: FrameAt): Promise<T>;
  /**
   * The payloads of many events, in the order of `refs`: the frames are read in runs, each of them once. More frames than the
   * cache has room for are not cached: they would push out all others, and each other too.
   *
   * @throws as `using`
   */
  all(history: string, refs: readonly EventRef[]): Promise<readonly Payload[]>;
  /**
   * The events of frames one after another, for callers that read many frames once each: they are read in runs and not cached.
   *
   * @throws as `using`
   */
  eventsInTurn(
    history: string,
    seqs: readonly number[],
  ): AsyncIterable<{ readonly seq: number; readonly events: readonly HistoryEvent[] }>;
  /**
   * The events of a frame, contents in place. `once`: they are not cached, for callers that read many frames once
   * each. @throws as `using`
   */
  events(
    history: string,
    seq: number,
    options?: { readonly once?: boolean },
  ): Promise<readonly HistoryEvent[]>;
  /** Frames as they were recorded, read together; they are not cached. @throws E_RECORD_DAMAGED, E_SNAPSHOT_NOT_FOUND */
  frames(history: string, seqs: readonly number[], frameAt: FrameAt): Promise<readonly Readable[]>;
  /** The frames of a history as whoever puts bodies of calls together reads them; nothing of `bytes` is cached. */
  framesOf(history: string): {
    readonly events: (seq: number) => Promise<readonly HistoryEvent[]>;
    /** The bytes of frames, which are checked for nothing. @throws E_RECORD_DAMAGED, E_SNAPSHOT_NOT_FOUND */
    readonly bytes: (seqs: readonly number[]) => Promise<readonly Uint8Array[]>;
  };
  /** Caches the events of a frame that the caller has decoded from `bytes` bytes. */
  keep(history: string, seq: number, events: readonly HistoryEvent[], bytes: number): void;
  clear(): void;
};

/** The bytes of a frame, or the offset of its record; undefined if there is no such frame. */
export type FrameAt = (history: string, seq: number) => Promise<number | Uint8Array | undefined>;

export type PayloadsOptions = {
  readonly log: Pick<EventLog, 'partitions' | 'read'>;
  readonly contents: ContentSource;
  /** Finds a frame in the rows. */
  readonly frameAt: FrameAt;
  /** Finds `count` frames from `from` on. */
  readonly framesAt: FramesAt;
  /** Bytes of frames to cache. Default 32 MiB. */
  readonly maxBytes?: number;
};

/**
 * Decoded values take about this many times the bytes of the frame, plus a constant for each frame. A content is one long text
 * mostly, and takes its bytes.
 */
const DECODED_FACTOR = 3;
const BYTES_PER_FRAME = 1_024;
/** The bytes that a frame with a message takes at the least. */
const SMALLEST_FRAME = 3 * BYTES_PER_FRAME;

export type Readable = Parameters<typeof readFrame>[0];
const readableOf = ({ envelope, frame, bodyAt }: OpenRecord): Readable => ({
  envelope,
  bytes: frame,
  bodyAt,
});

type CachedFrame = {
  readonly events: readonly HistoryEvent[];
  readonly bytes: number;
  /** True: it is shown only as long as its key is there. */
  readonly isSealed: boolean;
  /** The payloads that were asked for, each made once. */
  readonly payloads: Payload[];
};

export const openPayloads = ({
  log,
  contents,
  frameAt,
  framesAt,
  maxBytes = 32 * 1024 * 1024,
}: PayloadsOptions): Payloads => {
  const cached = new LRUCache<string, CachedFrame>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });
  const keyOf = (history: string, seq: number): string => `${seq} ${history}`;
  const isSealed = (history: string): boolean => contents.sealer?.seals(history) === true;
  /** A cached frame; not one whose history was erased meanwhile, perhaps by another process. */
  const cachedFrame = (history: string, seq: number): CachedFrame | undefined => {
    const key = keyOf(history, seq);
    const known = cached.get(key);
    if (known?.isSealed !== true || contents.sealer?.canOpen(history) === true) return known;
    cached.delete(key);
    return undefined;
  };

  const readRecorded = async (history: string, seq: number, find: FrameAt): Promise<Readable> => {
    const at = await find(history, seq);
    if (at === undefined)
      throw fail('E_SNAPSHOT_NOT_FOUND', `${history} has no frame ${seq}`, { history, seq });
    return typeof at === 'number' ? frameInLog(history, seq, at) : frameInRows(history, seq, at);
  };

  const decode = async (
    history: string,
    readable: Readable,
    sealed = isSealed(history),
  ): Promise<CachedFrame> => {
    let bytes = sizeOf(readable.bytes.length);
    const counted: ContentSource = {
      sealer: contents.sealer,
      async get(ref) {
        bytes += ref.size;
        return contents.get(ref);
      },
    };
    const { events } = (await readFrame(readable, counted)).body;
    return { events, bytes, isSealed: sealed, payloads: [] };
  };

  const read = async (history: string, seq: number, find: FrameAt): Promise<CachedFrame> => {
    return decode(history, await readRecorded(history, seq, find));
  };

  const frameInLog = async (history: string, seq: number, offset: number): Promise<Readable> => {
    const partition = partitionOf(history, log.partitions);
    const [record] = (await log.read(partition, offset, { maxBytes: 1, known: [offset] })).records;
    const open = record === undefined || record.damaged ? undefined : openRecord(record.bytes);
    if (open?.envelope.history !== history || open.envelope.seq !== seq)
      throw fail('E_RECORD_DAMAGED', `the record of frame ${seq} of ${history} can no longer be read`, {
        history,
        seq,
        partition,
        offset,
      });
    return readableOf(open);
  };

  /**
   * The frames that are read at once: what a read per frame costs is more than what lies between them. Undefined: whatever is not as
   * it should be must be read alone, which says what is wrong with it.
   */
  const readTogether = async (
    history: string,
    seqs: readonly number[],
  ): Promise<readonly (Readable | undefined)[]> => {
    const { found, records } = await readFrameRecords(log, framesAt, history, seqs);
    return seqs.map((seq) => {
      const at = found.get(seq);
      const record = typeof at === 'number' ? records.get(at) : undefined;
      const open = record && openRecord(record);
      if (open?.envelope.history !== history || open.envelope.seq !== seq) return undefined;
      return readableOf(open);
    });
  };

  const loadTogether = async (history: string, seqs: readonly number[]): Promise<void> => {
    const sealed = isSealed(history);
    for (const [i, readable] of (await readTogether(history, seqs)).entries()) {
      if (readable === undefined) continue;
      cached.set(keyOf(history, seqs[i] as number), await decode(history, readable, sealed));
    }
  };

  /** The frames of a run, one after another; those that are not cached are read together. */
  const eachOf = async function* (
    history: string,
    run: readonly number[],
    keep: boolean,
  ): AsyncGenerator<{ readonly seq: number; readonly frame: CachedFrame }> {
    const lacking = run.filter((seq) => cachedFrame(history, seq) === undefined);
    const found = lacking.length > 1 ? await readTogether(history, lacking) : [];
    const sealed = isSealed(history);
    const readableOf = new Map(lacking.map((seq, i) => [seq, found[i]]));
    for (const seq of run) {
      const readable = readableOf.get(seq);
      let frame = readable === undefined ? cachedFrame(history, seq) : undefined;
      if (frame === undefined) {
        frame = readable ? await decode(history, readable, sealed) : await read(history, seq, frameAt);
        if (keep) cached.set(keyOf(history, seq), frame);
      }
      yield { seq, frame };
    }
  };

  const readAll: Payloads['frames'] = async (history, seqs, find) => {
    const frames: Readable[] = [];
    for (const [i, readable] of (await readTogether(history, seqs)).entries())
      frames.push(readable ?? (await readRecorded(history, seqs[i] as number, find)));
    return frames;
  };

  const loadFrame = async (history: string, seq: number, find: FrameAt = frameAt): Promise<CachedFrame> => {
    const known = cachedFrame(history, seq);
    if (known !== undefined) return known;
    const frame = await read(history, seq, find);
    cached.set(keyOf(history, seq), frame);
    return frame;
  };

  return {
    using(history, fn, find) {
      // The frames that one question needs are held until it is answered, however many they are.
      const held = new Map<number, CachedFrame>();
      const source = (ref: EventRef): Payload => {
        let frame = held.get(ref.seq);
        if (frame === undefined) {
          frame = cachedFrame(history, ref.seq);
          if (frame === undefined) throw missing(PAYLOADS, [ref]);
          held.set(ref.seq, frame);
        }
        return payloadAt(frame, ref);
      };
      return resume(
        () => fn(source),
        fetching(PAYLOADS, async (refs) => {
          const wanted = [...new Set(refs.map(({ seq }) => seq))].filter((seq) => !held.has(seq));
          for (const seqs of find === undefined ? runsOf(wanted) : wanted.map((seq) => [seq])) {
            const missed = seqs.filter((seq) => cachedFrame(history, seq) === undefined);
            if (missed.length > 1) await loadTogether(history, missed);
            for (const seq of seqs) held.set(seq, await loadFrame(history, seq, find));
          }
        }),
      );
    },
    all: async (history, refs) => {
      const bySeq = Map.groupBy(refs.keys(), (i) => (refs[i] as EventRef).seq);
      const keep = bySeq.size * SMALLEST_FRAME <= maxBytes;
      const found = new Array<Payload>(refs.length);
      for (const run of runsOf([...bySeq.keys()]))
        for await (const { seq, frame } of eachOf(history, run, keep))
          for (const i of bySeq.get(seq) as readonly number[])
            found[i] = payloadAt(frame, refs[i] as EventRef);
      return found;
    },
    async *eventsInTurn(history, seqs) {
      for (let from = 0; from < seqs.length; from += RUN)
        for await (const { seq, frame } of eachOf(history, seqs.slice(from, from + RUN), false))
          yield { seq, events: frame.events };
    },
    events: async (history, seq, { once = false } = {}) => {
      const known = once ? (cachedFrame(history, seq) ?? (await read(history, seq, frameAt))) : null;
      return (known ?? (await loadFrame(history, seq))).events;
    },
    framesOf: (history) => ({
      events: async (seq) => (await loadFrame(history, seq)).events,
      bytes: (seqs) => readFrameBytes(log, framesAt, history, seqs),
    }),
    frames: readAll,
    keep: (history, seq, events, size) =>
      void cached.set(keyOf(history, seq), {
        ...{ events, bytes: sizeOf(size), payloads: [] },
        isSealed: isSealed(history),
      }),
    clear: () => cached.clear(),
  };
};

/** The most frames of a run, and how far apart two of them are at the most. */
const RUN = 256;
const GAP = 8;

/** Frame numbers in runs of those that lie close together, ascending. */
const runsOf = (seqs: readonly number[]): readonly (readonly number[])[] => {
  const runs: number[][] = [];
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run === undefined || run.length === RUN || seq - (run.at(-1) as number) > GAP) runs.push([seq]);
    else run.push(seq);
  }
  return runs;
};

const sizeOf = (bytes: number): number => bytes * DECODED_FACTOR + BYTES_PER_FRAME;

const frameInRows = (history: string, seq: number, bytes: Uint8Array): Readable => {
  const open = decodeEnvelope(bytes);
  if (open) return { ...open, bytes };
  throw fail('E_ROWS_DAMAGED', `the rows no longer have frame ${seq} of ${history}`, { history, seq });
};

const payloadAt = ({ events, payloads }: CachedFrame, { seq, index }: EventRef): Payload => {
  const known = payloads[index];
  if (known !== undefined) return known;
  const event = events[index];
  if (event === undefined) throw fail('E_HISTORY_DEFECTIVE', `frame ${seq} has no event ${index}`, { seq });
  return (payloads[index] = payloadIn(event));
};
