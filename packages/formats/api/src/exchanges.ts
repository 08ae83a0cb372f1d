import { NAME_CHARACTER } from '@stemma/errors';
import { z } from 'zod';
import { ErrorAnswer } from './answers.ts';
import type { Endpoint } from './endpoint.ts';
import { anyJson, count } from './values.ts';

/** A pattern of groups would need memory for each of them. */
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const body = z
  .union([
    z.strictObject({
      text: z.string().refine((text) => text.isWellFormed(), 'half of a character, which no UTF-8 has'),
    }),
    z.strictObject({ base64: z.string().refine(isBase64, 'not base64') }),
  ])
  .nullable()
  .describe(
    '`text` if the bytes are UTF-8, or `base64`; null: nobody has them, or they are more than 40 MiB',
  );
const coding = z
  .string()
  .max(100)
  .nullable()
  .optional()
  .describe('the content coding that the bytes still have (`gzip`)');
const name = z.string().max(512).nullable().optional();
const tokens = count.nullable().optional();
const PLACE_NAME = new RegExp(`^(?:${NAME_CHARACTER}|:){1,300}$`, 'u');

/** True for what may name a history, or a branch of one: `NAME:BRANCH`. */
export const isPlaceName = (text: string): boolean => PLACE_NAME.test(text) && text.normalize('NFC') === text;

const placeName = z
  .string()
  .min(1)
  .max(300)
  .refine(isPlaceName, 'a name has letters, digits, and . _ - :')
  .describe('letters, digits, and . _ - :');

const wireRequest = z.strictObject({
  form: z.literal('wire'),
  method: z.string().min(1).max(20),
  path: z
    .string()
    .max(2_048)
    .regex(/^\/[^?#]*$/, 'a path begins with / and has no query: a query may hold a key')
    .describe('without the query; its end names the API: /chat/completions, /responses, /messages'),
  origin: z
    .string()
    .max(512)
    .regex(
      /^https?:\/\/[^/@?#\s]+$/,
      'an origin is a scheme, a host and perhaps a port: it has no user and no path',
    )
    .nullable()
    .optional()
    .describe('where it went: scheme, host and port, such as https://api.example.org'),
  content_type: z.string().max(500).nullable().optional(),
  coding,
  body,
});
const saidRequest = z.strictObject({
  form: z.literal('said'),
  model: name,
  messages: z.array(z.record(z.string(), anyJson)).max(100_000),
  parameters: z.record(z.string(), anyJson).optional(),
  tools: z.array(anyJson).max(10_000).nullable().optional(),
});
const wireResponse = z.strictObject({
  form: z.literal('wire'),
  http_status: z.int().min(100).max(999),
  content_type: z.string().max(500).nullable(),
  retry_after: z.string().max(500).nullable().optional().describe('the header, as it came'),
  coding,
  body: body.describe('as far as it came; of a stream, the stream'),
});
const saidResponse = z.strictObject({
  form: z.literal('said'),
  answer: z.record(z.string(), anyJson).nullable(),
  finish_reason: name,
  model: name,
  answer_id: name.describe(
    'the name by which a later request goes on from the answer (`previous_response_id`), if its provider keeps it',
  ),
  usage: z
    .strictObject({
      ...{ input: tokens, output: tokens, cached: tokens, cache_write: tokens, reasoning: tokens },
      cache_write_1h: tokens.describe('of `cache_write`: kept for an hour'),
    })
    .nullable()
    .optional(),
});

/** An exchange with a model's API: the request, and how it ended. */
export const ExchangeRequest = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(200)
      .describe('the id of the attempt, made by the client; sent twice, it has one effect'),
    recorder: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('the agent or program that records (default: recorder)'),
    history: placeName.optional().describe('the history of the call, or its branch: `NAME[:BRANCH]`'),
    run: placeName
      .optional()
      .describe('the run of a program, among whose calls its conversation is looked for'),
    request: z
      .discriminatedUnion('form', [wireRequest, saidRequest])
      .describe('`wire`: as it went out, without headers; `said`: what a program says that it asked'),
    sent_at: count
      .nullable()
      .optional()
      .describe('when the request began to go out, by the clock of the client: milliseconds since 1970'),
    end: z
      .strictObject({
        status: z.enum(['answered', 'failed', 'cancelled', 'timed out', 'unknown']),
        first_byte_ms: count.nullable(),
        duration_ms: count.nullable(),
        error: z
          .strictObject({ code: z.string().max(200).nullable(), message: z.string().max(4_000) })
          .nullable(),
        response: z
          .discriminatedUnion('form', [wireResponse, saidResponse])
          .nullable()
          .describe('null: none came'),
      })
      .nullable()
      .describe('null: nobody knows how it ended'),
  })
  .refine(({ history, run }) => history === undefined || run === undefined, {
    message: 'history and run are both given: a call has one place',
  })
  .meta({ id: 'ExchangeRequest' });
export type ExchangeRequest = z.infer<typeof ExchangeRequest>;

/** Where an exchange is recorded. */
export const ExchangeAnswer = z
  .strictObject({
    attempt_id: z.string(),
    history: z.string(),
    branch: z.string(),
    branchId: count,
    match: z
      .enum(['named', 'started', 'appended', 'repeated', 'rewritten', 'forked', 'assigned'])
      .describe('how the branch was found (docs/rules/calls.md, 3)'),
    warning: z
      .string()
      .nullable()
      .describe('why it is recorded elsewhere than it was asked; null: it is where it was asked'),
  })
  .meta({ id: 'ExchangeAnswer' });
export type ExchangeAnswer = z.infer<typeof ExchangeAnswer>;

/** Exchanges that waited together. Each is looked at by itself: a wrong one keeps no other from being recorded. */
const ExchangesRequest = z
  .strictObject({
    exchanges: z
      .array(z.record(z.string(), anyJson))
      .min(1)
      .max(100)
      .describe('each an `ExchangeRequest`, in the order in which they were made'),
  })
  .meta({ id: 'ExchangesRequest' });

/** What became of each, in order. */
export const ExchangesAnswer = z
  .strictObject({
    results: z
      .array(
        z.strictObject({
          id: z.string(),
          status: z.int().describe('the status that it would have been answered alone'),
          answer: ExchangeAnswer.nullable(),
          error: ErrorAnswer.shape.error.nullable(),
        }),
      )
      .describe('shorter than the request after a status of 429 or from 500: what follows was not tried'),
  })
  .meta({ id: 'ExchangesAnswer' });
export type ExchangesAnswer = z.infer<typeof ExchangesAnswer>;

/** The endpoints of recorders that see the calls of a program themselves (docs/recorder.md). */
export const EXCHANGES = {
  recordExchange: {
    method: 'POST',
    path: '/api/exchanges',
    summary:
      'Records a call of a model that a client made elsewhere, as the proxy does. Answers when it is durable.',
    body: ExchangeRequest,
    answer: { kind: 'json', status: 200, schema: ExchangeAnswer },
    errors: [
      'E_BRANCH_NOT_FOUND',
      'E_HISTORY_ERASED',
      'E_HISTORY_SEALED',
      'E_CALL_NOT_ERASABLE',
      'E_COMMAND_INVALID',
      'E_COMMAND_REUSED',
      'E_OUTCOME_UNKNOWN',
      'E_IO',
    ],
  },
  recordExchanges: {
    method: 'POST',
    path: '/api/exchanges/batch',
    summary: 'Records several calls, one after the other, and answers each. Answers when all are durable.',
    body: ExchangesRequest,
    answer: { kind: 'json', status: 200, schema: ExchangesAnswer },
    errors: ['E_COMMAND_INVALID'],
  },
} as const satisfies Record<string, Endpoint>;
