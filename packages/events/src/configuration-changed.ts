import { z } from 'zod';
import { payloadValue } from './node-shape.ts';

/**
 * The general configuration of the branch is another from here on (pool: Interventions, context-tree §10.21). Keys by code
 * point, each once; `null` means that the key is not set. The pruning policy has an event of its own.
 */
export const ConfigurationChanged = z.strictObject({
  type: z.literal('ConfigurationChanged'),
  changes: z.array(z.strictObject({ key: z.string().min(1), from: payloadValue, to: payloadValue })).min(1),
});
