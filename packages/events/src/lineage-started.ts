import { z } from 'zod';
import { count } from './node-shape.ts';

/**
 * A lineage goes on from (`parent`, `at`) (context-tree §5; snapshots: branches). Its strand is the `seq` of this frame. A
 * rollback gives it the `name` of the lineage it leaves, which is then called `abandoned` (or keeps only its id: null).
 */
export const LineageStarted = z.strictObject({
  type: z.literal('LineageStarted'),
  how: z.enum(['fork', 'rollback']),
  parent: count,
  at: count,
  name: z.string().nullable(),
  abandoned: z.string().nullable(),
});
