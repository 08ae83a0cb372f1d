import { z } from 'zod';
import { count } from './node-shape.ts';

/**
 * A branch starts at (`parent`, `at`) (context-tree §5; snapshots: branches). Its branch id is the `seq` of this frame.
 * A rollback gives it the `name` of the abandoned branch, which is renamed to `abandoned` (null: it has only its id).
 */
export const BranchStarted = z.strictObject({
  type: z.literal('BranchStarted'),
  how: z.enum(['fork', 'rollback']),
  parent: count,
  at: count,
  name: z.string().nullable(),
  abandoned: z.string().nullable(),
});
