import { z } from 'zod';
import { count, id } from './node-shape.ts';

/**
 * A history started; its root branch is branch 0, named `main` (context-tree §1, §10.5). The four ids never change.
 * `thread: "pre"` is for models that remember nothing (§4). New regions have their own headers (context-tree §10.5)
 * unless `NodeImported` events of the same frame set others.
 */
export const HistoryStarted = z.strictObject({
  type: z.literal('HistoryStarted'),
  name: z.string().nullable(),
  ids: z.strictObject({ root: id, sys: id, seq: id, ah: id }),
  thread: z.enum(['full', 'pre']),
  /** The cycle before the first: 0, or that of the imported export. */
  cycle: count,
  /** The source of an imported history: the mapping with its version, and SHA-256 (hex) of the file. */
  source: z.strictObject({ format: z.string(), sha256: z.string() }).nullable(),
  /** If this history salvages another: that history, and its last good `seq` (record §2). */
  salvaged: z.strictObject({ history: z.string(), seq: z.int().min(0) }).nullable(),
  /** If its frames are sealed under a key of its own: whom the history is about, where that was said. */
  erasable: z.strictObject({ subject: z.string().nullable() }).optional(),
});
