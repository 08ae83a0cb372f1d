import { z } from 'zod';
import { PositionAnswer } from './summaries.ts';

/** The data of one message of a watch; its `id` is the cursor to resume behind. */
export const WatchAnswer = z
  .strictObject({
    first: z.boolean().describe('true: the whole result; false: a change of it'),
    position: PositionAnswer,
    ids: z.array(z.string()).describe('what the selector matches now, in document order'),
    added: z.array(z.string()),
    removed: z.array(z.string()),
  })
  .meta({ id: 'WatchMessage' });
export type WatchAnswer = z.infer<typeof WatchAnswer>;
