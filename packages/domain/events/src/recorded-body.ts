import { z } from 'zod';
import { count } from './node-shape.ts';

/** The body that another one copies from. */
const BodyBase = z.strictObject({
  /** The event that has it, and its size. */
  seq: count,
  index: count,
  size: count,
  /** How many bodies stand behind each other up to it, each of which was the newest when the next one came (calls §2.5). */
  ordinal: count,
  /** The frames of those between it and the one that copies, whose bytes are the dictionary of that one's own bytes. */
  frames: z.array(count),
});

/**
 * The bytes of a body on the wire, kept in pieces: `[length]` is the next so many bytes of its own; `[offset, length]` a copy of
 * the base, or, from the base's size on, of the companion: the contents of the nodes that the frame of a request inserts, the
 * answer of a response (calls §2). The own bytes are in the event's payload, as `encoding` says; `zstd` is base64 of a
 * Zstandard frame, whose dictionary is the companion if the base names no frames, `events` of one of the columns of an event
 * stream (calls §2.6). `none`: hash and size are all that is kept (calls §2.3).
 */
export const RecordedBody = z.strictObject({
  /** Of the whole body, in hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: count,
  base: BodyBase.nullable(),
  pieces: z.array(z.array(count).min(1).max(2)),
  encoding: z.enum(['text', 'base64', 'zstd', 'events', 'none']),
});
export type RecordedBody = z.infer<typeof RecordedBody>;

/** The most bytes of a body that is kept: a content has at most 64 MiB, in base64. Of a larger one hash and size are recorded. */
export const MAX_KEPT = 40 * 1024 * 1024;

/** True if the bytes of a body are kept, and not its hash and size alone (calls §2.3). */
export const isBodyKept = ({ size }: { readonly size: number }): boolean => size <= MAX_KEPT;
