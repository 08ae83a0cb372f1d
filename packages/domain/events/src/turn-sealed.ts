import { z } from 'zod';
import { node } from './recorded-node.ts';

/** The nodes in `^ah` became a turn at depth 1; `^ah` is empty again (context-tree §3.4, §10.7). */
export const TurnSealed = z.strictObject({ type: z.literal('TurnSealed'), turn: node });
