import { apiOf } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import type { CallRecorder } from './call-recorder.ts';
import { endOfError } from './end-of-error.ts';
import type { CallRecorderOptions, CallScopeOptions } from './options.ts';
import { sharedRecorder } from './shared-recorders.ts';
import { sayUnknownKeys } from './unknown-keys.ts';
import { watchResponse } from './watch-response.ts';

export type FetchFunction = typeof globalThis.fetch;

export type RecordingFetchOptions = CallRecorderOptions &
  CallScopeOptions & {
    /** The function that makes the requests; by default the global `fetch`. */
    readonly fetch?: FetchFunction;
    /** Records instead of the recorder that the process shares. */
    readonly calls?: CallRecorder;
  };

/**
 * A `fetch` that records calls of models: it gives what the other one gives, the same bytes, when they come. Requests that are
 * none pass. It waits for nothing but a file that is written, and throws only what the other one throws (calls §7.4).
 */
export const recordingFetch = (options: RecordingFetchOptions = {}): FetchFunction =>
  openRecordingFetch(options, 'recordingFetch');

/** @param name the function that the program called */
export const openRecordingFetch = (options: RecordingFetchOptions, name: string): FetchFunction => {
  const { fetch: inner, calls: given, history, run, ...rest } = options;
  const scope = defined({ history, run });
  noted(() => sayUnknownKeys(name, 'options', options, options.warn));
  return async (input, init) => {
    const fetch = inner ?? globalThis.fetch;
    const request = noted(() => requestOf(input, init));
    if (request === undefined) return fetch(input, init);
    const [began, sentAt] = [performance.now(), Date.now()];
    const response = fetch(input, init);
    const body = request.body instanceof Promise ? await request.body : request.body;
    const call = noted(() => {
      const { method, path, origin, contentType } = request;
      const start = { form: 'wire', method, path, origin, content_type: contentType, body } as const;
      return (given ?? sharedRecorder(rest)).begin(start, scope, sentAt);
    });
    if (call === undefined) return await response;
    try {
      return await watchResponse(await response, call, request.signal, began);
    } catch (error) {
      await call.end(endOfError(error, request.signal));
      throw error;
    }
  };
};

type KnownBody = readonly Uint8Array[] | string | null;

type Requested = {
  readonly method: string;
  readonly path: string;
  /** Null: it is one of a page's own. */
  readonly origin: string | null;
  readonly contentType: string | null;
  readonly body: KnownBody | Promise<KnownBody>;
  readonly signal: AbortSignal | null;
};

/** What is recorded of a request; undefined: it calls no model. */
const requestOf = (
  input: Parameters<FetchFunction>[0],
  init: Parameters<FetchFunction>[1],
): Requested | undefined => {
  const asked = typeof input === 'object' && 'url' in input ? input : undefined;
  const method = init?.method ?? asked?.method ?? 'GET';
  const address = asked?.url ?? (typeof input === 'string' ? input : (input as URL).href);
  const url = new URL(address, 'http://localhost');
  const path = url.pathname;
  if (apiOf(method, path) === 'other') return undefined;
  const body = init?.body == null && asked?.body != null ? copyOf(asked) : bodyOf(init?.body);
  const origin = URL.canParse(address) && /^https?:$/.test(url.protocol) ? url.origin : null;
  const contentType = new Headers(init?.headers ?? asked?.headers).get('content-type');
  return { method, path, origin, contentType, body, signal: init?.signal ?? asked?.signal ?? null };
};

/** The body of a request that is about to be sent, when it has been read. */
const copyOf = (request: Request): Promise<KnownBody> =>
  request
    .clone()
    .arrayBuffer()
    .then(
      (bytes) => [new Uint8Array(bytes)],
      () => null,
    );

/** A copy of a body, if it is there as a whole: a stream is the fetch's alone. */
const bodyOf = (body: unknown): KnownBody => {
  if (typeof body === 'string') return body;
  if (body instanceof ArrayBuffer) return [new Uint8Array(body).slice()];
  if (ArrayBuffer.isView(body))
    return [new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()];
  return null;
};

/** What `make` gives; undefined if it throws: the call goes on without it. */
const noted = <T>(make: () => T): T | undefined => {
  try {
    return make();
  } catch {
    return undefined;
  }
};
