import type { ExchangeAnswer, ExchangeRequest, InputOf, Endpoints } from '@stemma/api';
import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { MAX_RECORDED } from '@stemma/calls';
import { recordExchange, type Exchange, type ExchangeEnd } from '@stemma/exchanges';
import type { Home } from '@stemma/home';

/** Who records, if it does not say. */
const RECORDER = 'recorder';

type Handler = (input: InputOf<Endpoints['recordExchange']>) => Promise<ExchangeAnswer>;

/** Records the calls that a recorder has seen. */
export const exchangeHandlers = (home: Home): { readonly recordExchange: Handler } => ({
  recordExchange: async ({ body }) => {
    const { branch, match } = await recordExchange(home, exchangeOf(body));
    const { history, branch: name, branchId } = branch;
    return { attempt_id: body.id, history, branch: name, branchId, match };
  },
});

/** An exchange in the words of the contract, in the package's. */
const exchangeOf = ({ id, recorder = RECORDER, history, run, request, end }: ExchangeRequest): Exchange => ({
  id,
  by: { recorder },
  scope: scopeOf(history, run),
  request: requestOf(request),
  end: end === null ? null : endOf(end),
});

const scopeOf = (history: string | undefined, run: string | undefined): Exchange['scope'] => {
  if (history !== undefined) return { name: history };
  return run === undefined ? null : { run };
};

const requestOf = (request: ExchangeRequest['request']): Exchange['request'] => {
  if (request.form === 'wire') {
    const { form, method, path, coding = null } = request;
    return { form, method, path, coding, body: bytesOf(request.body) };
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
  firstByteMs: end.first_byte_ms,
  durationMs: end.duration_ms,
  error: end.error,
  response: end.response === null ? null : responseOf(end.response),
});

type Response = NonNullable<NonNullable<ExchangeRequest['end']>['response']>;

const responseOf = (response: Response): NonNullable<ExchangeEnd['response']> => {
  if (response.form === 'wire') {
    const { form, http_status: httpStatus, content_type: contentType, coding = null } = response;
    return { form, httpStatus, contentType, coding, body: bytesOf(response.body) };
  }
  const { form, answer, finish_reason: finishReason = null, model = null, usage = null } = response;
  return {
    form,
    answer: answer as WideJson | null,
    finishReason,
    model,
    usage: usage && {
      input: usage.input ?? null,
      output: usage.output ?? null,
      cached: usage.cached ?? null,
      cacheWrite: usage.cache_write ?? null,
      reasoning: usage.reasoning ?? null,
    },
  };
};

/** Null also for what is more than is recorded (calls §2.3). */
const bytesOf = (body: { readonly text: string } | { readonly base64: string } | null): Uint8Array | null => {
  if (body === null) return null;
  const bytes = 'text' in body ? Buffer.from(body.text, 'utf8') : Buffer.from(body.base64, 'base64');
  return bytes.length > MAX_RECORDED ? null : bytes;
};
