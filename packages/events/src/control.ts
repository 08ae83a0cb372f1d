import { z } from 'zod';
import { count } from './node-shape.ts';

/** `seq` 0 of `log:P`: the log has this id and so many partitions (record §5). */
export const LogOpened = z.strictObject({
  type: z.literal('LogOpened'),
  log: z.string(),
  partitions: z.int().min(1),
});

/** From here on this partition may hold frames of version `version` (record §2). */
export const FormatRaised = z.strictObject({ type: z.literal('FormatRaised'), version: z.int().min(1) });

/** An operator acknowledged the damaged record at `offset`: the partition is open again after it (record §2). */
export const DamageAcknowledged = z.strictObject({ type: z.literal('DamageAcknowledged'), offset: count });
