import type { ExchangeRequest } from '@stemma/api';
import { defined } from '@stemma/values';
import { sentBody } from './body-as-text.ts';
import type { CallEnding, CallStart } from './call-recorder.ts';
import { whyNoJson } from './no-json.ts';
import type { CallScopeOptions } from './options.ts';

/** Takes secrets out of a text. */
export type Redact = ((text: string) => string) | undefined;

export type ExchangeParts = {
  readonly id: string;
  readonly recorder: string;
  readonly scope: CallScopeOptions;
  readonly start: CallStart;
  readonly sentAt: number;
};

/**
 * How the JSON of an exchange begins, in the words of the gateway's contract and without the secrets that the rules know:
 * everything but its end. It is made once, since requests are long.
 */
export const exchangeHead = (
  { id, recorder, scope: { history, run }, start, sentAt }: ExchangeParts,
  redact: Redact,
): string => {
  const head: Omit<ExchangeRequest, 'end'> = {
    id,
    recorder,
    ...defined({ history }),
    ...(history !== undefined || run === undefined ? {} : { run }),
    request:
      start.form === 'wire'
        ? {
            ...start,
            method: start.method.slice(0, 20),
            content_type: start.content_type?.slice(0, 500) ?? null,
            body: sentBody(start.body, redact),
          }
        : said(start, redact),
    sent_at: sentAt,
  };
  return JSON.stringify(head).slice(0, -1);
};

/** The whole JSON. @param ending null: the call goes on @param elapsed milliseconds since it began */
export const exchangeJson = (
  head: string,
  ending: CallEnding | null,
  elapsed: number,
  redact: Redact,
): string => `${head},"end":${JSON.stringify(ending && endOf(ending, elapsed, redact))}}`;

const endOf = (
  { status, error, response, first_byte_ms: firstByte, duration_ms: duration }: CallEnding,
  elapsed: number,
  redact: Redact,
): NonNullable<ExchangeRequest['end']> => ({
  status,
  first_byte_ms: firstByte === null ? null : wholeOf(firstByte),
  duration_ms: wholeOf(duration ?? elapsed),
  error: error && {
    code: error.code?.slice(0, 200) ?? null,
    message: (redact?.(error.message) ?? error.message).slice(0, 2_000),
  },
  response: responseOf(response, redact),
});

const responseOf = (
  response: CallEnding['response'],
  redact: Redact,
): NonNullable<ExchangeRequest['end']>['response'] => {
  if (response?.form !== 'wire') return response && said(response, redact);
  return {
    ...response,
    content_type: response.content_type?.slice(0, 500) ?? null,
    retry_after: response.retry_after?.slice(0, 500) ?? null,
    body: sentBody(response.body, redact),
  };
};

/** A value as it is now, whatever becomes of it, as JSON has it. @throws if it has none */
const said = <T>(value: T, redact: Redact): T => {
  const text = jsonOf(value);
  return JSON.parse(redact?.(text) ?? text) as T;
};

const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
  } catch (error) {
    throw new Error(whyNoJson(error), { cause: error });
  }
};

const wholeOf = (milliseconds: number): number => Math.max(0, Math.floor(milliseconds));
