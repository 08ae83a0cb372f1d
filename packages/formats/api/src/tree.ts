import { z } from 'zod';
import { count, nanoseconds } from './values.ts';

/** The beginning of a content, and how much there is: the whole is at the node's own address. */
export const Excerpt = z
  .strictObject({
    text: z.string().describe('the beginning; of anything but a text, of its JSON'),
    form: z.enum(['text', 'json']),
    characters: count.describe('UTF-16 code units of the whole'),
    complete: z.boolean(),
  })
  .meta({ id: 'Excerpt' });
export type Excerpt = z.infer<typeof Excerpt>;

/** The three regions; null for the root. */
const region = z.enum(['^sys', '^seq', '^ah']).nullable();

export const headers = {
  id: z.string(),
  nodeType: z.string(),
  offset: z.int(),
  ttl: count.nullable().describe('as the snapshot shows it; null: unlimited'),
  priority: z.number(),
  cycle: z.int().describe('the cycle that introduced it'),
  created_at_ns: nanoseconds,
  /** Null: the time is not known. */
  created_at_iso: z.string().nullable(),
  creation_index: count,
  role: z.string().nullable().optional(),
  kind: z.string().nullable().optional(),
  key: z.string().nullable().optional(),
  removable: z.boolean().nullable().optional(),
  refs: z.array(z.string()).nullable().optional(),
};

export const location = {
  shape: z.enum(['root', 'region', 'turn', 'container', 'block']),
  region,
  parent: z.string().nullable(),
  depth: z
    .int()
    .nullable()
    .describe('-1 under ^sys, 0 under ^ah, n for the n-th newest turn; null for root and regions'),
};
