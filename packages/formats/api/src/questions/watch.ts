import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { historyParams } from '../values.ts';

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

export const watch = {
  name: 'watch',
  method: 'GET',
  path: '/api/histories/{history}/watch',
  summary:
    'Streams what a selector matches and each later change as server-sent events. Resumes after `Last-Event-ID` (or `after`).',
  params: historyParams,
  query: z.strictObject({
    selector: z
      .string()
      .min(1)
      .max(10_000)
      .describe('a selector on the working state, or with @t0 on the newest snapshot'),
    after: z.string().min(1).max(8192).optional().describe('a cursor: the `id` of a message'),
  }),
  answer: {
    kind: 'stream',
    message: WatchAnswer,
    describe:
      'messages `event: result`, each with the cursor as its `id`: first the whole result, then what changed; a ' +
      'comment every 15 s when nothing does; `event: end` with an error when the server ends the stream',
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SELECTOR_INVALID', 'E_STREAM_GONE', 'E_BUSY'],
  streamed: true,
} as const satisfies Question;
