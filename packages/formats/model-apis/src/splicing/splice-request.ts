import { isJsonObject, parseWideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { ReadApi } from '../api-names.ts';
import { formatOf } from '../apis.ts';
import { decodeText, guarded, type UnreadableBody } from '../body.ts';
import type { OutgoingMessage } from './outgoing.ts';

/**
 * The body of a request with other messages: those that it keeps, and all that is no message, have the bytes that they had;
 * new ones are written as the API has them. @param bytes the body, which `readRequest` has read
 */
export const spliceRequest = (
  api: ReadApi,
  bytes: Uint8Array,
  messages: readonly OutgoingMessage[],
): { readonly ok: true; readonly body: Uint8Array } | UnreadableBody =>
  guarded(() => {
    const text = decodeText(bytes, 'the request');
    const body = parseWideJson(text, 'the request');
    if (!isJsonObject(body)) throw fail('E_INPUT_SHAPE', 'the request is not a JSON object');
    const format = formatOf(api);
    const locations = format.locations(body);
    const isSame =
      messages.length === locations.length && messages.every((each, i) => 'keep' in each && each.keep === i);
    if (isSame) return { ok: true, body: bytes };
    return { ok: true, body: Buffer.from(format.splice(text, locations, messages)) };
  });
