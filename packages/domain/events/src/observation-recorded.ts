import { z } from 'zod';
import { count } from './node-shape.ts';

export const OBSERVATIONS = ['opened', 'searched', 'selected', 'exported'] as const;
export type ObservationKind = (typeof OBSERVATIONS)[number];

/** Nanoseconds: small ones come back from the record as numbers. */
const nanoseconds = z.union([z.bigint(), z.int()]).transform((time) => BigInt(time));

/**
 * An actor looked at a position, `times` times between `first_at` and `last_at`. Frames of observations hold no other
 * events but what was redacted, belong to no branch, and change no tree and no position: `branchId` of the frame is only
 * the branch that was looked at.
 */
export const ObservationRecorded = z.strictObject({
  type: z.literal('ObservationRecorded'),
  kind: z.enum(OBSERVATIONS),
  /** What was requested: a selector, a reference, a format. */
  what: z.string(),
  /** The observed position. */
  branchId: count,
  seq: count,
  times: z.int().min(1),
  first_at: nanoseconds,
  last_at: nanoseconds,
});
