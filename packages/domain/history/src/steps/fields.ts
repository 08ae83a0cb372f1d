import type { WideJson } from '@stemma/canonical';
import { z } from 'zod';

/** Any JSON, with integers of any size; the decision checks which values it may have. */
export const json = z.custom<WideJson>((value) => value !== undefined);
export const object = z.custom<{ readonly [key: string]: WideJson }>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
export const id = z.string().min(1);
export const count = z.int().min(0);
export const nanoseconds = z.bigint().min(0n);
export const position = z.strictObject({ branchId: count, seq: count });
/** Fields that a request may give otherwise: a position by a reference. */
export const STEP_FIELDS = { json, object, position } as const;
/** The transcript that a history was imported from. */
export const source = z.strictObject({ format: z.string(), sha256: z.string() });
/** The frames of the history are sealed under a key of its own, which `erase` destroys. */
export const erasable = z.strictObject({ subject: z.string().min(1).max(256).nullable() });
/** The value of a header. */
export const head = z.string().max(256).nullable();
