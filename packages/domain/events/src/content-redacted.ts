import { z } from 'zod';
import { id } from './node-shape.ts';

/**
 * Secrets were taken out of the command before it was decided: the other events of the frame hold placeholders in their
 * place. It is the last event of its frame. Neither the originals nor their hashes are recorded.
 */
export const ContentRedacted = z.strictObject({
  type: z.literal('ContentRedacted'),
  redactions: z
    .array(
      z.strictObject({
        /** The rule that found it: a kind of key, or a name that the user gave. */
        rule: z.string().min(1),
        /** The node that holds the placeholder; null for notes, descriptions and the like. */
        node: id.nullable(),
        /** The attribute of the node, or what the step calls the text. */
        field: z.string(),
        count: z.int().min(1),
      }),
    )
    .min(1),
});
