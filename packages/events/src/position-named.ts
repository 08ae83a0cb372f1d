import { z } from 'zod';
import { count } from './node-shape.ts';

/** A position has a name, unique in its history (context-tree §5). The position is (`branch_id`, `seq`). */
export const PositionNamed = z.strictObject({
  type: z.literal('PositionNamed'),
  name: z.string(),
  branchId: count,
  seq: count,
});

/** Somebody wrote a note to a position; later notes stand beside earlier ones. */
export const PositionAnnotated = z.strictObject({
  type: z.literal('PositionAnnotated'),
  branchId: count,
  seq: count,
  note: z.string(),
});
