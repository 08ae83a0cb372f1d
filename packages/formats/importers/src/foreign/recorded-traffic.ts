import { echo } from '@stemma/errors';
import { apiOf, type ReadApi } from '@stemma/model-apis';
import type { ForeignExchange, ForeignItem, ForeignWireResponse } from './item.ts';

/** A body as a recording has it. */
export type RecordedBytes = {
  readonly contentType: string | null;
  /** The content coding of the bytes as they stand here. */
  readonly coding: string | null;
  readonly body: Uint8Array;
  /** False: these are other bytes of the same value, as the recording keeps no bytes. */
  readonly isExact: boolean;
};

/** A request and its answer, as recordings of HTTP have them. */
export type RecordedPair = {
  /** Unique in its file. */
  readonly id: string;
  readonly at?: number | undefined;
  readonly durationMs: number | null;
  readonly firstByteMs?: number | null | undefined;
  readonly method: string;
  readonly url: string;
  /** Null: the recording leaves it out. */
  readonly request: RecordedBytes | null;
  /** Null: none came. */
  readonly response: (RecordedBytes & { readonly httpStatus: number }) | null;
};

/**
 * The call that a pair is, with its bytes; of a pair that calls no model, and of one whose request has no body, the name that it is
 * counted by: `request GET api.example.com/v1/models`.
 */
export const itemOfPair = (pair: RecordedPair): ForeignItem => {
  const address = addressOf(pair.url);
  const method = pair.method.toUpperCase();
  if (address === null) return { kind: 'dropped', what: `request ${shortened(method)} without an address` };
  const { origin, host, path } = address;
  const what = `${shortened(method)} ${shortened(host)}${shapeOfPath(path)}`;
  const api = apiOf(method, path);
  if (api === 'other') return { kind: 'dropped', what: `request ${what}` };
  const { request, response } = pair;
  if (request === null || request.body.length === 0)
    return { kind: 'dropped', what: `call without its request ${what}` };
  if (!mayAskModel(api, request)) return { kind: 'dropped', what: `request ${what}` };
  return exchangeOf(pair, { method, path, origin }, request, response);
};

const exchangeOf = (
  { id, at, durationMs, firstByteMs }: RecordedPair,
  address: { readonly method: string; readonly path: string; readonly origin: string | null },
  request: RecordedBytes,
  response: RecordedPair['response'],
): ForeignExchange => {
  const isExact = request.isExact && response?.isExact !== false;
  const { contentType, coding, body } = request;
  const answer: ForeignWireResponse | null =
    response === null
      ? null
      : {
          form: 'wire',
          httpStatus: response.httpStatus,
          contentType: response.contentType,
          coding: response.coding,
          body: response.body,
        };
  const hasFailed = answer === null || answer.httpStatus >= 400;
  return {
    kind: 'exchange',
    id,
    at,
    request: { form: 'wire', ...address, contentType, coding, body },
    end: {
      status: hasFailed ? 'failed' : 'answered',
      durationMs,
      firstByteMs,
      error: answer === null ? { code: null, message: 'no answer was recorded' } : null,
      response: answer,
    },
    fidelity: isExact ? 'exact' : 'same',
  };
};

/**
 * A path may end like that of a model's API by chance; what asks a model is a JSON object. Bodies of Bedrock's InvokeModel are of many
 * APIs, of which Anthropic's is read.
 */
const mayAskModel = (api: ReadApi, { body, coding }: RecordedBytes): boolean => {
  if (coding !== null) return true;
  const text = new TextDecoder().decode(api === 'bedrock.invoke' ? body : body.subarray(0, 64));
  return /^\s*\{/.test(text) && (api !== 'bedrock.invoke' || text.includes('"anthropic_version"'));
};

/** Recorders may put a word in place of a host that they hide: `<API_BASE>/chat/completions` has a path, and no origin. */
const addressOf = (
  url: string,
): { readonly origin: string | null; readonly host: string; readonly path: string } | null => {
  if (URL.canParse(url)) {
    const { protocol, host, pathname } = new URL(url);
    return /^(https?|wss?):$/.test(protocol)
      ? { origin: `${protocol}//${host}`, host, path: pathname }
      : null;
  }
  const [, host = '', path = ''] = /^([^/?#\s]*)(\/[^?#]*)/.exec(url) ?? [];
  return path === '' ? null : { origin: null, host, path };
};

/** The path with `*` for each part that is a name of one thing: requests of one kind are counted together. */
const shapeOfPath = (path: string): string => {
  const parts = path.split('/').map((part) => (/\d{3}|%|^[0-9a-f]{8,}$|^.{33}/.test(part) ? '*' : part));
  return shortened(parts.slice(0, 12).join('/'), 120);
};

const shortened = (text: string, most = 60): string => echo(text, most);
