import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { piecesOf } from '../anthropic/messages.ts';
import type { ModelApi } from '../api-of.ts';
import { isList } from '../body.ts';
import { itemGroups } from '../responses/messages.ts';
import type { MessageLocation } from './outgoing.ts';

/** Where each message of a request is in its body, in the order in which `readRequest` gives them. */
export const locationsOf = (api: Exclude<ModelApi, 'other'>, body: WideJsonObject): MessageLocation[] => {
  switch (api) {
    case 'openai.chat':
      return listOf(body, 'messages').map((_, i) => item('messages', i, i + 1));
    case 'openai.responses':
      return responsesLocations(body);
    case 'anthropic.messages':
      return anthropicLocations(body);
  }
};

const item = (field: MessageLocation['field'], from: number, to: number): MessageLocation => ({
  field,
  items: [from, to],
  blocks: null,
});
const whole = (field: MessageLocation['field']): MessageLocation => ({ field, items: null, blocks: null });

const listOf = (body: WideJsonObject, field: string): readonly unknown[] => {
  const list = body[field];
  return isList(list) ? list : [];
};

const isThere = (body: WideJsonObject, field: string): boolean =>
  body[field] !== undefined && body[field] !== null;

const responsesLocations = (body: WideJsonObject): MessageLocation[] => {
  const first = isThere(body, 'instructions') ? [whole('instructions')] : [];
  const { input } = body;
  if (input === undefined || input === null) return first;
  if (typeof input === 'string') return [...first, whole('input')];
  return [...first, ...itemGroups(input).map(({ from, to }) => item('input', from, to))];
};

const anthropicLocations = (body: WideJsonObject): MessageLocation[] => {
  const locations = isThere(body, 'system') ? [whole('system')] : [];
  for (const [i, message] of listOf(body, 'messages').entries()) {
    const own = item('messages', i, i + 1);
    const pieces = piecesOf(message as WideJsonObject, `message ${i}`);
    const content = isJsonObject(message) ? message['content'] : null;
    if (!isList(content) || (message as WideJsonObject)['role'] !== 'user') {
      locations.push(own);
      continue;
    }
    let at = 0;
    for (const piece of pieces) {
      const size = piece['role'] === 'tool' ? 1 : isList(piece['content']) ? piece['content'].length : 0;
      locations.push({ ...own, blocks: [at, at + size] });
      at += size;
    }
  }
  return locations;
};
