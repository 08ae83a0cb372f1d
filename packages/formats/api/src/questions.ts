import { z } from 'zod';
import { Bisection } from './bisect.ts';
import { BlameAnswer } from './blame.ts';
import { CacheAnswer } from './cache.ts';
import { CallsPage } from './calls.ts';
import { CallAnswer, CallRequest } from './commands.ts';
import type { Endpoint } from './endpoint.ts';
import { SizesAnswer } from './sizes.ts';
import { historyParam, reference, wholeInQuery } from './values.ts';
import { WatchAnswer } from './watch.ts';

const history = z.strictObject({ history: historyParam });

/** Endpoints of the questions about what was sent (docs/questions.md). */
export const QUESTIONS = {
  blame: {
    method: 'GET',
    path: '/api/histories/{history}/blame',
    summary:
      'Returns who wrote each byte of the provider thread at a position: node, event, command, author.',
    params: history,
    query: z.strictObject({
      at: reference.optional(),
      bytes: z
        .string()
        .max(40)
        .optional()
        .describe('120-480 for the bytes 120 to 479, 120- for all from 120 (default: the whole thread)'),
    }),
    answer: { kind: 'json', status: 200, schema: BlameAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  },
  cache: {
    method: 'GET',
    path: '/api/histories/{history}/cache',
    summary: 'Returns how much of each call a prefix cache could have served, and what broke the prefix.',
    params: history,
    query: z.strictObject({
      from: wholeInQuery.optional().describe('the index of the first step (default: 0)'),
      limit: wholeInQuery.optional().describe('the most steps to return, at most 1,000 (default: 1,000)'),
    }),
    answer: { kind: 'json', status: 200, schema: CacheAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  },
  calls: {
    method: 'GET',
    path: '/api/histories/{history}/calls',
    summary:
      'Lists the calls of a branch, oldest first: how many messages each shares with the one before, and the messages that follow.',
    params: history,
    query: z.strictObject({
      after: wholeInQuery.optional().describe('the cycle that all come after (default: from the first)'),
      limit: wholeInQuery
        .optional()
        .describe('the most calls to return, at most 1,000; fewer if they are large (default: 100)'),
    }),
    answer: { kind: 'json', status: 200, schema: CallsPage },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  },
  sizes: {
    method: 'GET',
    path: '/api/histories/{history}/sizes',
    summary:
      'Lists what each call of a branch was shown in numbers, oldest first: messages, tokens by region and role, what entered and what was removed.',
    params: history,
    query: z.strictObject({
      after: wholeInQuery.optional().describe('the cycle that all come after (default: from the first)'),
      limit: wholeInQuery.optional().describe('the most calls to return, at most 20,000 (default: 1,000)'),
    }),
    answer: { kind: 'json', status: 200, schema: SizesAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  },
  bisect: {
    method: 'GET',
    path: '/api/histories/{history}/bisect',
    summary:
      'Finds the first snapshot between a good and a bad one where a selector matches, with the causes.',
    params: history,
    query: z.strictObject({
      good: reference.describe('a snapshot where the selector does not match'),
      bad: reference.describe('a snapshot where it matches; may be older, or of another branch'),
      when: z.string().min(1).max(10_000).describe('a selector without a position'),
      holds: z
        .enum(['match', 'none'])
        .optional()
        .describe(
          'bad snapshots: match: the selector matches something; none: it matches nothing (default: match)',
        ),
    }),
    answer: { kind: 'json', status: 200, schema: Bisection },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID', 'E_BISECT_ENDS'],
  },
  watch: {
    method: 'GET',
    path: '/api/histories/{history}/watch',
    summary:
      'Streams what a selector matches and each later change as server-sent events. Resumes after `Last-Event-ID` (or `after`).',
    params: history,
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
  },
  recordCall: {
    method: 'POST',
    path: '/api/histories/{history}/calls',
    summary:
      'Records the message list of the next call: inserts new messages, removes missing ones, and commits.',
    params: history,
    body: CallRequest,
    answer: { kind: 'json', status: 200, schema: CallAnswer },
    errors: [
      'E_HISTORY_NOT_FOUND',
      'E_CONFLICT',
      'E_COMMAND_REUSED',
      'E_SEALED',
      'E_INPUT_SHAPE',
      'E_ROLE_UNKNOWN',
      'E_OUTCOME_UNKNOWN',
    ],
  },
} as const satisfies Record<string, Endpoint>;
