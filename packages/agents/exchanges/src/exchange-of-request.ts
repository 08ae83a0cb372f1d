import type { ExchangeRequest } from '@stemma/api';
import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { Exchange, ExchangeEnd } from './exchange.ts';

/** Who records, if it does not say. */
const RECORDER = 'recorder';

/** What the HTTP contract says of an exchange, as it is recorded. */
export const exchangeOfRequest = ({
  id,
  recorder = RECORDER,
  history,
  run,
  request,
  sent_at: sentAt = null,
  end,
}: ExchangeRequest): Exchange => ({
  id,
  by: { recorder },
  scope: scopeOf(history, run),
  request: requestOf(request),
  sentAt,
  end: end === null ? null : endOf(end),
});

const scopeOf = (history: string | undefined, run: string | undefined): Exchange['scope'] => {
  if (history !== undefined) return { name: history };
  return run === undefined ? null : { run };
};

const requestOf = (request: ExchangeRequest['request']): Exchange['request'] => {
  if (request.form === 'wire') {
    const { form, method, path, origin = null, content_type: contentType = null, coding = null } = request;
    return { form, method, path, origin, contentType, coding, body: bytesOf(request.body) };
  }
  const { form, model = null, messages, parameters = {}, tools = null } = request;
  return {
    form,
    model,
    messages: messages as readonly WideJson[],
    parameters: parameters as WideJsonObject,
    tools: tools as readonly WideJson[] | null,
  };
};

const endOf = (end: NonNullable<ExchangeRequest['end']>): ExchangeEnd => ({
  status: end.status,
  sentAt: null,
  firstByteMs: end.first_byte_ms,
  durationMs: end.duration_ms,
  error: end.error,
  response: end.response === null ? null : responseOf(end.response),
});

type Response = NonNullable<NonNullable<ExchangeRequest['end']>['response']>;

const responseOf = (response: Response): NonNullable<ExchangeEnd['response']> => {
  if (response.form === 'wire') {
    const { form, http_status: httpStatus, content_type: contentType, coding = null } = response;
    const { retry_after: retryAfter = null } = response;
    return { form, httpStatus, contentType, retryAfter, coding, body: bytesOf(response.body) };
  }
  const { form, answer, finish_reason: finishReason = null, model = null, usage = null } = response;
  return {
    form,
    answer: answer as WideJson | null,
    finishReason,
    model,
    answerId: response.answer_id ?? null,
    usage: usage && {
      input: usage.input ?? null,
      output: usage.output ?? null,
      cached: usage.cached ?? null,
      cacheWrite: usage.cache_write ?? null,
      reasoning: usage.reasoning ?? null,
      ...(usage.cache_write_1h != null && { cacheWrite1h: usage.cache_write_1h }),
    },
  };
};

const bytesOf = (body: { readonly text: string } | { readonly base64: string } | null): Uint8Array | null => {
  if (body === null) return null;
  return 'text' in body ? Buffer.from(body.text, 'utf8') : Buffer.from(body.base64, 'base64');
};
