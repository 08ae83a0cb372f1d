import { READ_APIS } from '@stemma/model-apis';
import { z } from 'zod';
import { anyJson, count, historyParam, milliseconds, sha256 } from './values.ts';

/** In which API a model is asked. */
export const callApi = z.enum([...READ_APIS, 'other']);

const body = z.strictObject({ sha256, size: count }).nullable();
const tokens = count.nullable();
const head = z
  .strictObject({ content_type: z.string().nullable(), coding: z.string().nullable() })
  .describe('of the body; null: none, or not known');

export const CallAddressAnswer = z
  .strictObject({ history: z.string(), branchId: count, attempt_id: z.string() })
  .meta({ id: 'CallAddress' });
export type CallAddressAnswer = z.infer<typeof CallAddressAnswer>;

/** An attempt to call a model. */
export const AttemptAnswer = z
  .strictObject({
    attempt_id: z.string(),
    run: z
      .string()
      .nullable()
      .describe('the run of a program, or the rerun, that made it; null: recorded under none'),
    cycle: count,
    label: z.string().describe('the position it was called with, on its branch'),
    branchId: count,
    seq: count,
    at: milliseconds.describe(
      'when its request went out, or was recorded, if nobody saw that: milliseconds since 1970',
    ),
    api: callApi,
    model: z.string().nullable(),
    scope: z
      .string()
      .nullable()
      .describe('among which calls the recorder looked for the branch; null: it did not look'),
    match: z
      .enum(['named', 'started', 'appended', 'repeated', 'rewritten', 'forked', 'assigned'])
      .nullable()
      .describe('how it found the branch (docs/rules/calls.md, 3)'),
    status: z
      .enum(['answered', 'failed', 'cancelled', 'timed out', 'unknown'])
      .describe('unknown also while nobody has recorded an end'),
    http_status: count.nullable(),
    origin: z.string().nullable().describe('scheme, host and port that it went to; null: recorded without'),
    path: z.string().nullable().describe('without the query, which may hold a key'),
    request_head: head,
    response_head: head,
    retry_after: z.string().nullable().describe('the header of the response, as it came'),
    choices: count.nullable().describe('how many choices the answer has; null: not known'),
    request_sha256: sha256
      .nullable()
      .describe(
        'of the body on the wire; null: not recorded. The bytes of one with a size above 40 MiB are not kept',
      ),
    response_sha256: sha256.nullable(),
    request: body,
    response: body,
    usage: z
      .strictObject({
        input: tokens.describe('all input tokens, those from and to a cache too'),
        output: tokens,
        cached: tokens,
        cache_write: tokens,
        cache_write_1h: tokens.describe('of `cache_write`: kept for an hour'),
        reasoning: tokens,
      })
      .nullable(),
    cost: z
      .strictObject({ amount: z.string(), currency: z.string() })
      .nullable()
      .describe('by the price table of the home; null: it does not say'),
    first_byte_ms: count.nullable(),
    duration_ms: count.nullable(),
    finish_reason: z.string().nullable(),
    error: z.strictObject({ code: z.string().nullable(), message: z.string() }).nullable(),
    fidelity: z
      .strictObject({
        kind: z
          .enum(['exact', 'same', 'reconstructed'])
          .describe('`exact`: the bytes, `same`: all messages, `reconstructed`: some were put together'),
        missing: z
          .array(z.string())
          .describe('what the file lacks: `system prompt`, `tools`, `parameters` …'),
      })
      .nullable()
      .describe('how true its picture is, where a file told of it; null: its recorder was there'),
    assigned_from: z
      .strictObject({ history: z.string(), attempt_id: z.string() })
      .nullable()
      .describe('the attempt that it was before somebody assigned it here'),
    reassigned_to: CallAddressAnswer.nullable().describe(
      'the attempt that it is elsewhere since somebody assigned it there: it counts no more here',
    ),
    led_to: z
      .array(z.strictObject({ history: z.string(), branchId: count }))
      .describe('the branches whose conversations it led to, as a recorder guessed or somebody said'),
  })
  .meta({ id: 'Attempt' });
export type AttemptAnswer = z.infer<typeof AttemptAnswer>;
export const WholeAttempt = AttemptAnswer.extend({
  parameters: anyJson,
  tools: z.array(anyJson),
  answer: anyJson.describe('the message of the answer; null: there is none'),
  other_answers: z.array(anyJson).describe('the messages of the other choices of the answer'),
  not_shown: z
    .string()
    .nullable()
    .describe('why the thread is not all that the model was shown; null: it is'),
  not_kept: z
    .array(z.enum(['request', 'came', 'response']))
    .describe('the bodies that nobody could surely take secrets out of: they are not recorded'),
  steered: z
    .strictObject({
      request: body.describe('the body as it came; null: it went as it came, or is not recorded'),
      changes: z.array(
        z.strictObject({
          what: z.enum(['inserted', 'replaced', 'removed', 'lost']),
          node: z.string(),
          seq: count.describe('the frame of the intervention'),
        }),
      ),
      unsteered: z.string().nullable().describe('why it went as it came, although its branch is steered'),
    })
    .nullable()
    .describe('what observers changed in the request before it went out; null: nothing'),
}).meta({ id: 'WholeAttempt' });

export type WholeAttemptAnswer = z.infer<typeof WholeAttempt>;

const NO_PLACE = 'it was called with no position: no messages of it are read';

/** A call of a provider's API that carries no messages. */
export const ProviderCallAnswer = AttemptAnswer.extend({
  cycle: z.null().describe(NO_PLACE),
  label: z.null().describe(NO_PLACE),
  seq: count.describe('the frame that recorded it'),
  api: z.literal('other'),
  method: z.string().describe('of HTTP'),
  scope: z.null(),
  match: z.null(),
  choices: z.null(),
  finish_reason: z.null(),
  fidelity: z.null(),
  assigned_from: z.null(),
  reassigned_to: z.null(),
})
  .meta({ id: 'ProviderCall' })
  .describe('a call without messages: embeddings, rerank, moderations, files');
export type ProviderCallAnswer = z.infer<typeof ProviderCallAnswer>;
export const WholeProviderCall = ProviderCallAnswer.extend({
  not_kept: z
    .array(z.enum(['request', 'response']))
    .describe('the bodies that nobody could surely take secrets out of: they are not recorded'),
}).meta({ id: 'WholeProviderCall' });
export type WholeProviderCallAnswer = z.infer<typeof WholeProviderCall>;

export const one = z.strictObject({ history: historyParam, attempt: z.string().min(1).max(600) });

type Usage = NonNullable<AttemptAnswer['usage']>;
type Body = { readonly sha256: string; readonly size: number } | null;

type Address = { readonly history: string; readonly branchId: number; readonly attemptId: string };

/** What an attempt is made of. */
type AttemptFacts = Readonly<
  Pick<
    AttemptAnswer,
    'run' | 'cycle' | 'label' | 'branchId' | 'seq' | 'at' | 'api' | 'model' | 'scope' | 'match' | 'status'
  >
> & {
  readonly attemptId: string;
  readonly httpStatus: number | null;
  readonly origin: string | null;
  readonly path: string | null;
  readonly requestHead: { readonly contentType: string | null; readonly coding: string | null };
  readonly responseHead: { readonly contentType: string | null; readonly coding: string | null };
  readonly retryAfter: string | null;
  readonly choices: number | null;
  readonly request: Body;
  readonly response: Body;
  readonly usage:
    | (Readonly<Omit<Usage, 'cache_write' | 'cache_write_1h'>> & {
        readonly cacheWrite: number | null;
        readonly cacheWrite1h?: number | undefined;
      })
    | null;
  readonly cost: { readonly amount: string; readonly currency: string } | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  readonly finishReason: string | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  readonly fidelity: AttemptFidelity | null;
  readonly assignedFrom: { readonly history: string; readonly attemptId: string } | null;
  readonly reassignedTo: Address | null;
  readonly ledTo: readonly { readonly history: string; readonly branchId: number }[];
};

const headAnswer = ({ contentType, coding }: AttemptFacts['requestHead']): z.infer<typeof head> => ({
  content_type: contentType,
  coding,
});

/** How true the picture of a call is that a file told of, and what the file lacks. */
export type AttemptFidelity = {
  readonly kind: NonNullable<AttemptAnswer['fidelity']>['kind'];
  readonly missing: readonly string[];
};

/** What only the events of an attempt hold. */
type WholeFacts = AttemptFacts & {
  readonly parameters: unknown;
  readonly tools: readonly unknown[];
  readonly answer: unknown;
  readonly otherAnswers: readonly unknown[];
  readonly notShown: string | null;
  readonly notKept: readonly WholeAttemptAnswer['not_kept'][number][];
  readonly steered:
    | (Omit<NonNullable<WholeAttemptAnswer['steered']>, 'changes'> & {
        readonly changes: readonly Readonly<NonNullable<WholeAttemptAnswer['steered']>['changes'][number]>[];
      })
    | null;
};

/** The address of an attempt as the contract has it. */
export const callAddressAnswer = ({ history, branchId, attemptId }: Address): CallAddressAnswer => ({
  history,
  branchId,
  attempt_id: attemptId,
});

/** An attempt as the contract has it. */
export const attemptAnswer = (attempt: AttemptFacts): AttemptAnswer => {
  const { request, response, usage, assignedFrom, reassignedTo, ledTo } = attempt;
  return {
    attempt_id: attempt.attemptId,
    run: attempt.run,
    cycle: attempt.cycle,
    label: attempt.label,
    branchId: attempt.branchId,
    seq: attempt.seq,
    at: attempt.at,
    api: attempt.api,
    model: attempt.model,
    scope: attempt.scope,
    match: attempt.match,
    status: attempt.status,
    http_status: attempt.httpStatus,
    origin: attempt.origin,
    path: attempt.path,
    request_head: headAnswer(attempt.requestHead),
    response_head: headAnswer(attempt.responseHead),
    retry_after: attempt.retryAfter,
    choices: attempt.choices,
    request_sha256: request?.sha256 ?? null,
    response_sha256: response?.sha256 ?? null,
    request,
    response,
    usage: usage && {
      input: usage.input,
      output: usage.output,
      cached: usage.cached,
      cache_write: usage.cacheWrite,
      cache_write_1h: usage.cacheWrite1h ?? null,
      reasoning: usage.reasoning,
    },
    cost: attempt.cost,
    first_byte_ms: attempt.firstByteMs,
    duration_ms: attempt.durationMs,
    finish_reason: attempt.finishReason,
    error: attempt.error,
    fidelity: attempt.fidelity && { kind: attempt.fidelity.kind, missing: [...attempt.fidelity.missing] },
    assigned_from: assignedFrom && { history: assignedFrom.history, attempt_id: assignedFrom.attemptId },
    reassigned_to: reassignedTo && callAddressAnswer(reassignedTo),
    led_to: ledTo.map(({ history, branchId }) => ({ history, branchId })),
  };
};

/** What a call without messages is made of. */
type ProviderCallFacts = Pick<
  AttemptFacts,
  | ('attemptId' | 'run' | 'branchId' | 'seq' | 'at' | 'model' | 'status' | 'httpStatus' | 'origin' | 'path')
  | ('requestHead' | 'responseHead' | 'retryAfter' | 'request' | 'response' | 'usage' | 'cost' | 'error')
  | ('firstByteMs' | 'durationMs')
> & { readonly method: string };

/** What calls with messages have, and these do not. */
const WITHOUT_MESSAGES = {
  cycle: null,
  label: null,
  api: 'other',
  scope: null,
  match: null,
  choices: null,
  finishReason: null,
  fidelity: null,
  assignedFrom: null,
  reassignedTo: null,
  ledTo: [],
} as const;

/** A call without messages as the contract has it. */
export const providerCallAnswer = (call: ProviderCallFacts): ProviderCallAnswer => {
  const { cycle, label, api, scope, match, choices } = WITHOUT_MESSAGES;
  const like = attemptAnswer({ ...call, ...WITHOUT_MESSAGES, cycle: 0, label: '' });
  return {
    ...{ ...like, cycle, label, api, method: call.method, scope, match, choices },
    ...{ finish_reason: null, fidelity: null, assigned_from: null, reassigned_to: null },
  };
};

/** A call without messages with all that is recorded of it, as the contract has it. */
export const wholeProviderCallAnswer = (
  call: ProviderCallFacts & { readonly notKept: readonly ('request' | 'response')[] },
): WholeProviderCallAnswer => ({ ...providerCallAnswer(call), not_kept: [...call.notKept] });

/** An attempt with all that is recorded of it, as the contract has it. */
export const wholeAttemptAnswer = (found: WholeFacts): WholeAttemptAnswer => {
  const { parameters, tools, answer, otherAnswers, notShown, notKept, steered } = found;
  return {
    ...attemptAnswer(found),
    parameters,
    tools: [...tools],
    answer,
    other_answers: [...otherAnswers],
    not_shown: notShown,
    not_kept: [...notKept],
    steered: steered && { ...steered, changes: steered.changes.map((each) => ({ ...each })) },
  };
};
