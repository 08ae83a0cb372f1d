import { z } from 'zod';
import { payloadValue } from './node-shape.ts';

/**
 * The general configuration of the branch changed (pool: Interventions, context-tree §10.21). Keys by code point, each
 * once; `null` means that a key is not set. The pruning policy has its own event.
 */
export const ConfigurationChanged = z.strictObject({
  type: z.literal('ConfigurationChanged'),
  changes: z.array(z.strictObject({ key: z.string().min(1), from: payloadValue, to: payloadValue })).min(1),
});
