import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { echo } from '@stemma/errors';
import { objectOrEmpty, textOrNull } from './body.ts';

/** Tokens of a call. Null: the API did not say. */
export type TokenUsage = {
  /** All tokens of the request, those read from and written to a cache among them. */
  readonly input: number | null;
  /** All tokens of the answer, those of its reasoning among them. */
  readonly output: number | null;
  /** Of the input: read from a cache. */
  readonly cached: number | null;
  /** Of the input: written to a cache. */
  readonly cacheWrite: number | null;
  /** Of what was written to a cache: kept there for an hour, which has a price of its own. Absent: the API did not say. */
  readonly cacheWrite1h?: number | undefined;
  /** Of the output: reasoning. */
  readonly reasoning: number | null;
};

/** An edit of the context that a provider made before its model saw it: its type, and what it counts. */
export type ContextEdit = { readonly [name: string]: string | number };

/** What the API, or the reader of its answer, says went wrong. */
export type AnswerError = { readonly code: string | null; readonly message: string };

/** What an answer says. */
export type ModelAnswer = {
  /** The message of the model in the form of OpenAI's chat API; of an early end, what came of it. */
  readonly answer: WideJsonObject | null;
  /** The messages of the other choices, if there are several. */
  readonly others?: readonly WideJsonObject[];
  /** Why the model stopped, in the word of its API. */
  readonly finishReason: string | null;
  readonly model: string | null;
  readonly id: string | null;
  readonly usage: TokenUsage | null;
  /** What its API changed in the context before the model saw it, as far as the answer says. */
  readonly contextEdits?: readonly ContextEdit[];
  readonly error: AnswerError | null;
  /** True if the body ends as its API ends it: nothing is missing. */
  readonly complete: boolean;
  /** True if the model goes on behind the body: who wants the answer has to ask for it. */
  readonly pending: boolean;
};

/** An answer that says nothing. */
export const NO_ANSWER: ModelAnswer = {
  answer: null,
  finishReason: null,
  model: null,
  id: null,
  usage: null,
  error: null,
  complete: false,
  pending: false,
};

/** The most characters of the message of an error. */
const MAX_MESSAGE = 500;

export const answerError = (code: string | null, message: string): AnswerError => ({
  code: code === null ? null : echo(code),
  message: echo(message, MAX_MESSAGE),
});

/** An error as the APIs write it: `{code, type, message}`, of which some may be missing, or a text. */
export const errorOf = (error: WideJson | undefined): AnswerError | null => {
  if (error === undefined || error === null || error === false) return null;
  if (typeof error === 'string') return answerError(null, error);
  const { code, type, message } = objectOrEmpty(error);
  const number = typeof code === 'number' ? String(code) : null;
  const text = textOrNull(message) ?? 'the API gives no message';
  return answerError(textOrNull(code) ?? textOrNull(type) ?? number, text);
};

/** A count of tokens, or null for anything else. */
export const countOrNull = (value: WideJson | undefined): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** The usage of OpenAI's APIs, whose fields have one of two names. */
export const openAIUsage = (usage: WideJson | undefined): TokenUsage | null => {
  if (!isJsonObject(usage)) return null;
  const input = objectOrEmpty(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const output = objectOrEmpty(usage['completion_tokens_details'] ?? usage['output_tokens_details']);
  return {
    input: countOrNull(usage['prompt_tokens'] ?? usage['input_tokens']),
    output: countOrNull(usage['completion_tokens'] ?? usage['output_tokens']),
    cached: countOrNull(input['cached_tokens']),
    cacheWrite: countOrNull(input['cache_write_tokens']),
    reasoning: countOrNull(output['reasoning_tokens']),
  };
};
