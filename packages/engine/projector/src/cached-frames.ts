import type { EventRef, Payload } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { payloadIn } from '@stemma/history';
import { readFrame, type ContentSource } from '@stemma/log';
import { LRUCache } from 'lru-cache';
import type { Readable } from './recorded-frames.ts';

/**
 * Decoded values take about this many times the bytes of the frame, plus a constant for each frame. A content is one long text
 * mostly, and takes its bytes.
 */
const DECODED_FACTOR = 3;
export const BYTES_PER_FRAME = 1_024;
export type CachedFrame = {
  readonly events: readonly HistoryEvent[];
  readonly bytes: number;
  /** True: it is shown only as long as its key is there. */
  readonly isSealed: boolean;
  /** The payloads that were asked for, each made once. */
  readonly payloads: Payload[];
};

/** The decoded frames that were used last, as many as have room. */
export type CachedFrames = {
  /** Undefined also if its history was erased meanwhile, perhaps by another process. */
  get(history: string, seq: number): CachedFrame | undefined;
  set(history: string, seq: number, frame: CachedFrame): void;
  /** Caches events that the caller has decoded from `bytes` bytes. */
  keep(history: string, seq: number, events: readonly HistoryEvent[], bytes: number): void;
  /** Decodes frames of one history; none is cached. */
  decoder(history: string): (readable: Readable) => Promise<CachedFrame>;
  clear(): void;
};

export const openCachedFrames = (contents: ContentSource, maxBytes: number): CachedFrames => {
  const cached = new LRUCache<string, CachedFrame>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });
  const keyOf = (history: string, seq: number): string => `${seq} ${history}`;
  const isSealed = (history: string): boolean => contents.sealer?.seals(history) === true;
  return {
    get(history, seq) {
      const key = keyOf(history, seq);
      const known = cached.get(key);
      if (known?.isSealed !== true || contents.sealer?.canOpen(history) === true) return known;
      cached.delete(key);
      return undefined;
    },
    set: (history, seq, frame) => void cached.set(keyOf(history, seq), frame),
    keep: (history, seq, events, size) =>
      void cached.set(keyOf(history, seq), {
        ...{ events, bytes: sizeOf(size), payloads: [] },
        isSealed: isSealed(history),
      }),
    decoder(history) {
      const sealed = isSealed(history);
      return async (readable) => {
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
    },
    clear: () => cached.clear(),
  };
};

const sizeOf = (bytes: number): number => bytes * DECODED_FACTOR + BYTES_PER_FRAME;

export const payloadAt = ({ events, payloads }: CachedFrame, { seq, index }: EventRef): Payload => {
  const known = payloads[index];
  if (known !== undefined) return known;
  const event = events[index];
  if (event === undefined) throw fail('E_HISTORY_DEFECTIVE', `frame ${seq} has no event ${index}`, { seq });
  return (payloads[index] = payloadIn(event));
};
