import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { LoggedEventAnswer } from '../logged.ts';
import { anyJson, historyParam } from '../values.ts';

/**
 * What the live stream says of one event: enough to know what to read again. `event` is left out above 16 KiB of JSON;
 * `GET …/events?from=SEQ` has it.
 */
export const StreamedEvent = LoggedEventAnswer.omit({ event: true })
  .extend({ type: z.string(), event: anyJson.nullable() })
  .meta({ id: 'StreamedEvent' });

export type StreamedEvent = z.infer<typeof StreamedEvent>;

/** The data of one message `event: events` of the stream; its `id` is the cursor to resume from. */
export const StreamMessage = z.strictObject({ events: z.array(StreamedEvent) }).meta({ id: 'StreamMessage' });

export type StreamMessage = z.infer<typeof StreamMessage>;

export const stream = {
  name: 'stream',
  method: 'GET',
  path: '/api/events',
  summary: 'Streams newly accepted events as server-sent events. Resumes after `Last-Event-ID` (or `after`).',
  query: z.strictObject({
    history: historyParam.optional(),
    after: z.string().min(1).max(8192).optional().describe('a cursor: the `id` of a message'),
  }),
  answer: {
    kind: 'stream',
    message: StreamMessage,
    describe:
      'messages `event: events`, each with the cursor as its `id`; a comment every 15 s when nothing happens; ' +
      '`event: end` with an error when the server ends the stream',
  },
  errors: ['E_STREAM_GONE', 'E_HISTORY_NOT_FOUND', 'E_BUSY'],
  streamed: true,
} as const satisfies Question;
