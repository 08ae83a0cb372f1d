import type { WideJson } from '@stemma/canonical';
import { readRequest, type ModelApi, type ModelRequest } from '../src/index.ts';
import { jsonText } from '../src/json-text.ts';

export const bytesOf = (body: WideJson): Uint8Array => new TextEncoder().encode(jsonText(body));

/** What a request says that can be read. */
export const readGood = (api: ModelApi, body: WideJson): ModelRequest => {
  const request = readRequest(api, bytesOf(body));
  if (!request.ok) throw new Error(`${request.code}: ${request.reason}`);
  return request;
};

export const messagesOf = (api: ModelApi, body: WideJson): ModelRequest['messages'] =>
  readGood(api, body).messages;
