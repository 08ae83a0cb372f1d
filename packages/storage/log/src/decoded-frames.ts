import type { Frame } from '@stemma/events';
import type { AcceptedFrame } from './reading-types.ts';
import { sameBytes } from './record.ts';

/** Frames that this process has encoded, and decoded from those bytes: who reads them in the log need not decode again. */
export type DecodedFrames = {
  /** @param size of its record */
  readonly keep: (frame: Frame, hash: Uint8Array, size: number) => void;
  /** The frame that was decoded from the same bytes, as their hash shows; it is then no longer kept. */
  readonly take: (read: Pick<AcceptedFrame, 'envelope' | 'hash'>) => Frame | undefined;
  /** Nothing is kept any more: who reads them is in another thread now, and decodes them itself. */
  readonly stop: () => void;
};

type Kept = { readonly frame: Frame; readonly hash: Uint8Array; readonly size: number };

/** @param capacity bytes of records whose frames are kept; the oldest go first. Decoded they take about three times as much. */
export const openDecodedFrames = (capacity = 8 * 1024 * 1024): DecodedFrames => {
  const kept = new Map<string, Kept>();
  let total = 0;
  let stopped = false;
  const keyOf = ({ history, seq }: Frame['envelope']): string => `${seq} ${history}`;
  const remove = (key: string): Kept | undefined => {
    const found = kept.get(key);
    kept.delete(key);
    total -= found?.size ?? 0;
    return found;
  };
  return {
    keep: (frame, hash, size) => {
      if (stopped) return;
      const key = keyOf(frame.envelope);
      remove(key);
      kept.set(key, { frame, hash, size });
      total += size;
      for (const oldest of kept.keys()) {
        if (total <= capacity) break;
        remove(oldest);
      }
    },
    stop: () => {
      stopped = true;
      kept.clear();
      total = 0;
    },
    take: ({ envelope, hash }) => {
      const found = remove(keyOf(envelope));
      return found !== undefined && sameBytes(found.hash, hash) ? found.frame : undefined;
    },
  };
};
