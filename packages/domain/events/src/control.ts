import { z } from 'zod';
import { count } from './node-shape.ts';

/** `seq` 0 of `log:P`: the log has this id and this number of partitions (record §5). */
export const LogOpened = z.strictObject({
  type: z.literal('LogOpened'),
  log: z.string(),
  partitions: z.int().min(1),
});

/** From this frame on, frames of version `version` may be in this partition (record §2). */
export const FormatRaised = z.strictObject({ type: z.literal('FormatRaised'), version: z.int().min(1) });

/** An operator acknowledged that the record at `offset` is damaged: the partition continues after it (record §2). */
export const DamageAcknowledged = z.strictObject({ type: z.literal('DamageAcknowledged'), offset: count });
