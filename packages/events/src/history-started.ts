import { z } from 'zod';
import { count, id } from './node-shape.ts';

/**
 * A history came into being; its root branch is branch 0, named `main` (context-tree §1, §10.5). The four ids never
 * change. `thread: "pre"` is for minds that remember nothing (§4). Fresh regions have headers of their own (context-tree §10.5) unless
 * `NodeImported` events of the same frame give others.
 */
export const HistoryStarted = z.strictObject({
  type: z.literal('HistoryStarted'),
  name: z.string().nullable(),
  ids: z.strictObject({ root: id, sys: id, seq: id, ah: id }),
  thread: z.enum(['full', 'pre']),
  /** The cycle it starts after: 0, or that of the export it begins with. */
  cycle: count,
  /** Where an imported history comes from: the mapping with its version, and SHA-256 (hex) of the file. */
  source: z.strictObject({ format: z.string(), sha256: z.string() }).nullable(),
  /** The history and the `seq` up to which it was good, when this one salvages it (record §2). */
  salvaged: z.strictObject({ history: z.string(), seq: z.int().min(0) }).nullable(),
});
