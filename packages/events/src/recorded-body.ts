import { z } from 'zod';
import { count } from './node-shape.ts';

/**
 * The bytes of a body on the wire, kept in pieces: `[length]` is the next so many bytes of its own; `[offset, length]` a copy of the
 * body of the event `base`, or, from the offset `baseSize` on, of its companion: the contents of the nodes that the frame of a
 * request inserts, the answer of a response (calls §2). The own bytes are in the event's payload, as `encoding` says; `zstd`
 * is base64 of a Zstandard frame whose dictionary is the companion.
 */
export const RecordedBody = z.strictObject({
  /** Of the whole body, in hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: count,
  base: z.strictObject({ seq: count, index: count }).nullable(),
  baseSize: count,
  pieces: z.array(z.array(count).min(1).max(2)),
  encoding: z.enum(['text', 'base64', 'zstd']),
});
export type RecordedBody = z.infer<typeof RecordedBody>;
