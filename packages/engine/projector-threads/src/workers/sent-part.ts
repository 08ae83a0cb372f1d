import { fail } from '@stemma/errors';
import { decodeEnvelope, HASH_BYTES, type AcceptedFrame, type HeadState } from '@stemma/log';
import type { FramePart } from './part-folder.ts';

/** A part as it is sent: its frames stand one after the other in `bytes`, each followed by its hash. */
export type SentPart = {
  readonly window: number;
  readonly partition: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of each frame: offset, next, length of the frame; control frames are never sent. */
  readonly frames: Float64Array;
  readonly heads: ReadonlyMap<string, HeadState>;
  readonly eager: ReadonlyMap<string, readonly string[]>;
};

export const sentPart = ({ window, accepted, heads, eager }: FramePart): SentPart => {
  const bytes = new Uint8Array(accepted.reduce((sum, frame) => sum + frame.bytes.length + HASH_BYTES, 0));
  const frames = new Float64Array(accepted.length * 3);
  let at = 0;
  for (const [i, frame] of accepted.entries()) {
    frames.set([frame.offset, frame.next, frame.bytes.length], i * 3);
    bytes.set(frame.bytes, at);
    bytes.set(frame.hash, at + frame.bytes.length);
    at += frame.bytes.length + HASH_BYTES;
  }
  return { window, partition: accepted[0]?.partition ?? 0, bytes, frames, heads, eager };
};

export const receivedPart = ({ window, partition, bytes, frames, heads, eager }: SentPart): FramePart => {
  const accepted: AcceptedFrame[] = [];
  for (let i = 0, at = 0; i < frames.length; i += 3) {
    const [offset, next, length] = [frames[i] as number, frames[i + 1] as number, frames[i + 2] as number];
    const frame = bytes.subarray(at, at + length);
    const hash = bytes.subarray(at + length, at + length + HASH_BYTES);
    at += length + HASH_BYTES;
    const read = decodeEnvelope(frame);
    if (read === undefined) throw fail('E_INTERNAL', 'an accepted frame has no envelope');
    accepted.push({ partition, offset, next, ...read, hash, bytes: frame, control: false });
  }
  return { window, accepted, heads, eager };
};
