import { PAYLOADS, type EventRef, type Payload, type PayloadSource } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import type { ContentSource, EventLog } from '@stemma/log';
import { fetching, missing, resume } from '@stemma/suspend';
import { BYTES_PER_FRAME, openCachedFrames, payloadAt, type CachedFrame } from './cached-frames.ts';
import { type FramesAt, readFrameBytes } from './frame-bytes.ts';
import { openRecordedFrames, type FrameAt, type Readable } from './recorded-frames.ts';

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

/** The bytes that a frame with a message takes at the least. */
const SMALLEST_FRAME = 3 * BYTES_PER_FRAME;

export const openPayloads = ({
  log,
  contents,
  frameAt,
  framesAt,
  maxBytes = 32 * 1024 * 1024,
}: PayloadsOptions): Payloads => {
  const cached = openCachedFrames(contents, maxBytes);
  const recorded = openRecordedFrames(log, framesAt);

  const read = async (history: string, seq: number, find: FrameAt): Promise<CachedFrame> =>
    cached.decoder(history)(await recorded.one(history, seq, find));

  const loadTogether = async (history: string, seqs: readonly number[]): Promise<void> => {
    const decode = cached.decoder(history);
    for (const [i, readable] of (await recorded.together(history, seqs)).entries())
      if (readable !== undefined) cached.set(history, seqs[i] as number, await decode(readable));
  };

  /** The frames of a run, one after another; those that are not cached are read together. */
  const eachOf = async function* (
    history: string,
    run: readonly number[],
    keep: boolean,
  ): AsyncGenerator<{ readonly seq: number; readonly frame: CachedFrame }> {
    const lacking = run.filter((seq) => cached.get(history, seq) === undefined);
    const found = lacking.length > 1 ? await recorded.together(history, lacking) : [];
    const decode = cached.decoder(history);
    const readableOf = new Map(lacking.map((seq, i) => [seq, found[i]]));
    for (const seq of run) {
      const readable = readableOf.get(seq);
      let frame = readable === undefined ? cached.get(history, seq) : undefined;
      if (frame === undefined) {
        frame = readable ? await decode(readable) : await read(history, seq, frameAt);
        if (keep) cached.set(history, seq, frame);
      }
      yield { seq, frame };
    }
  };

  const loadFrame = async (history: string, seq: number, find: FrameAt = frameAt): Promise<CachedFrame> => {
    const known = cached.get(history, seq);
    if (known !== undefined) return known;
    const frame = await read(history, seq, find);
    cached.set(history, seq, frame);
    return frame;
  };

  return {
    using(history, fn, find) {
      // The frames that one question needs are held until it is answered, however many they are.
      const held = new Map<number, CachedFrame>();
      const source = (ref: EventRef): Payload => {
        let frame = held.get(ref.seq);
        if (frame === undefined) {
          frame = cached.get(history, ref.seq);
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
            const missed = seqs.filter((seq) => cached.get(history, seq) === undefined);
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
      const known = once ? (cached.get(history, seq) ?? (await read(history, seq, frameAt))) : null;
      return (known ?? (await loadFrame(history, seq))).events;
    },
    framesOf: (history) => ({
      events: async (seq) => (await loadFrame(history, seq)).events,
      bytes: (seqs) => readFrameBytes(log, framesAt, history, seqs),
    }),
    frames: async (history, seqs, find) => {
      const frames: Readable[] = [];
      for (const [i, readable] of (await recorded.together(history, seqs)).entries())
        frames.push(readable ?? (await recorded.one(history, seqs[i] as number, find)));
      return frames;
    },
    keep: (history, seq, events, bytes) => cached.keep(history, seq, events, bytes),
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
