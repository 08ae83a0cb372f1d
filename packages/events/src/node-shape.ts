import { isForbiddenKey } from '@stemma/canonical';
import { z } from 'zod';

/** An id: opaque, case-sensitive, at most 512 UTF-8 bytes (checked where commands are decided). */
export const id = z.string().min(1);

/** A safe integer from 0: cycles, sequence numbers, counts. */
export const count = z.int().min(0);

/** Nanoseconds since 1970. Recorded as the shortest integer, so small ones come back as numbers. */
export const nanoseconds = z.union([z.bigint(), z.int()]).transform((value) => BigInt(value));

/** Content and attributes: checked when they came in and protected by the record's hash since. */
export const payloadValue = z.unknown();

/** The headers every node is recorded with; `content`, `content_*`, `data_*` and unknown attributes stand beside them. */
export const node = z
  .looseObject({
    id,
    nodeType: z.string().min(1),
    offset: z.int(),
    ttl: count.nullable(),
    priority: z.number(),
    cycle: z.int(),
    created_at_ns: nanoseconds,
    creation_index: count,
    role: z.string().nullable().optional(),
    kind: z.string().nullable().optional(),
    key: z.string().nullable().optional(),
    removable: z.boolean().optional(),
    refs: z.array(id).optional(),
    provenance: payloadValue.optional(),
    content: payloadValue.optional(),
  })
  .refine((value) => !Object.keys(value).some(isForbiddenKey));

export type RecordedNode = z.infer<typeof node>;
