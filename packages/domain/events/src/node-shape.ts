import { z } from 'zod';

/** An id: opaque, case-sensitive, at most 512 UTF-8 bytes (checked where commands are decided). */
export const id = z.string().min(1);

/** A safe integer from 0: cycles, sequence numbers, counts. */
export const count = z.int().min(0);

/** Content and attributes: checked when they came in and protected by the record's hash since. */
export const payloadValue = z.unknown();
