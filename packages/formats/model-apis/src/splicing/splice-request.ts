import { isJsonObject, parseWideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { ModelApi } from '../api-of.ts';
import { decodeText, guarded, type UnreadableBody } from '../body.ts';
import { jsonText } from '../json-text.ts';
import { fieldNamed, itemSpans } from './text-spans.ts';
import type { OutgoingMessage, MessageLocation } from './outgoing.ts';
import { locationsOf } from './message-locations.ts';
import { fieldsOfBody, listOf, spliced } from './splice.ts';
import { spliceAnthropic } from './splice-anthropic.ts';
import { spliceResponses } from './splice-responses.ts';

type Splicer = (
  text: string,
  locations: readonly MessageLocation[],
  messages: readonly OutgoingMessage[],
) => string;

const spliceChat: Splicer = (text, _places, messages) => {
  const list = fieldNamed(fieldsOfBody(text), 'messages');
  if (list === undefined) return text;
  const elements = messages.map((each) =>
    'keep' in each ? { item: each.keep } : { text: jsonText(each.write) },
  );
  return spliced(text, [
    { span: list.value, text: listOf(text, list.value, itemSpans(text, list.value[0]), elements) },
  ]);
};

const SPLICERS: { readonly [api in Exclude<ModelApi, 'other'>]: Splicer } = {
  'openai.chat': spliceChat,
  'openai.responses': spliceResponses,
  'anthropic.messages': spliceAnthropic,
};

/**
 * The body of a request with other messages: those that it keeps, and all that is no message, have the bytes that they had;
 * new ones are written as the API has them. @param bytes the body, which `readRequest` has read
 */
export const spliceRequest = (
  api: Exclude<ModelApi, 'other'>,
  bytes: Uint8Array,
  messages: readonly OutgoingMessage[],
): { readonly ok: true; readonly body: Uint8Array } | UnreadableBody =>
  guarded(() => {
    const text = decodeText(bytes, 'the request');
    const body = parseWideJson(text, 'the request');
    if (!isJsonObject(body)) throw fail('E_INPUT_SHAPE', 'the request is not a JSON object');
    const locations = locationsOf(api, body);
    const isSame =
      messages.length === locations.length && messages.every((each, i) => 'keep' in each && each.keep === i);
    if (isSame) return { ok: true, body: bytes };
    return { ok: true, body: Buffer.from(SPLICERS[api](text, locations, messages)) };
  });
