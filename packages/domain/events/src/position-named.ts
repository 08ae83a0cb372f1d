import { z } from 'zod';
import { count } from './node-shape.ts';

/** A position has a name, unique in its history (context-tree §5). The position is (`branchId`, `seq`). */
export const PositionNamed = z.strictObject({
  type: z.literal('PositionNamed'),
  name: z.string(),
  branchId: count,
  seq: count,
});

/** A position has a note; later notes are added to earlier ones. */
export const PositionAnnotated = z.strictObject({
  type: z.literal('PositionAnnotated'),
  branchId: count,
  seq: count,
  note: z.string(),
});
