import { ERRORS, StemmaError, type ErrorCode } from '@stemma/errors';
import { ErrorAnswer } from './answers.ts';
import type { AnswerOf, Endpoint, InputOf } from './endpoint.ts';
import { ENDPOINTS, type EndpointName, type Endpoints, type StreamName } from './endpoints.ts';
import { fromWireJson, toWireJson } from './wire-json.ts';

/** As much of `fetch` as the client needs. */
export type ApiFetch = (
  url: string,
  options: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>;

/** One function for each endpoint; each answers what the contract says, or throws the coded error of the server. */
export type ApiClient = {
  readonly [Name in Exclude<EndpointName, StreamName>]: (
    input: InputOf<Endpoints[Name]>,
  ) => Promise<AnswerOf<Endpoints[Name]>>;
};

/**
 * A client of the gateway at `base` (`http://127.0.0.1:7836`, or '' from a page of its own).
 *
 * @throws (its functions) the server's error as a `StemmaError`; E_IO when there is no answer, E_INTERNAL when the
 *   answer is none of the contract's.
 */
export const createClient = (fetch: ApiFetch, base: string): ApiClient =>
  Object.fromEntries(
    Object.entries(ENDPOINTS).map(([name, endpoint]) => [
      name,
      (input: Given) => call(fetch, base, endpoint, input),
    ]),
  ) as unknown as ApiClient;

type Given = Readonly<Record<string, unknown>>;

const call = async (fetch: ApiFetch, base: string, endpoint: Endpoint, input: Given): Promise<unknown> => {
  const response = await fetch(base + addressOf(endpoint, input), {
    method: endpoint.method,
    headers: { accept: 'application/json', ...(endpoint.body ? { 'content-type': 'application/json' } : {}) },
    ...(endpoint.body ? { body: toWireJson(input['body']) } : {}),
  }).catch((error: unknown) => {
    throw new StemmaError('E_IO', 'the server does not answer', { path: endpoint.path }, { cause: error });
  });
  const text = await response.text();
  if (!response.ok) throw errorOf(text, response.status);
  if (endpoint.answer.kind !== 'json') return text;
  const parsed = endpoint.answer.schema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new StemmaError(
    'E_INTERNAL',
    `the answer of ${endpoint.path} is not of the contract: ${issue?.message ?? ''}`,
    {
      at: issue?.path.map(String).join('.') ?? '',
    },
  );
};

const jsonOf = (text: string): unknown => {
  try {
    return fromWireJson(text);
  } catch {
    return undefined;
  }
};

const errorOf = (text: string, status: number): StemmaError => {
  const parsed = ErrorAnswer.safeParse(jsonOf(text));
  if (!parsed.success)
    return new StemmaError('E_INTERNAL', `the server answered ${status} without an error of the contract`, {
      status,
    });
  const { code, message, detail } = parsed.data.error;
  return new StemmaError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'E_INTERNAL', message, detail);
};

/** The address of an endpoint with its parameters and query filled in. */
export const addressOf = (endpoint: Pick<Endpoint, 'path' | 'params' | 'query'>, input: Given): string => {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(textOf(input[key])),
  );
  const pairs = Object.keys(endpoint.query?.shape ?? {})
    .filter((key) => input[key] !== undefined)
    .map((key) => `${key}=${encodeURIComponent(textOf(input[key]))}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
