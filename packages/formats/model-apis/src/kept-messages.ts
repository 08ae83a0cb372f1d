import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { ModelApi } from './api-names.ts';
import { isList, objectOrEmpty, textOrNull } from './body.ts';
import { turnOf } from './responses/turn.ts';
import { responsesItems } from './responses/write-items.ts';

/**
 * The name by which a request goes on from what its provider has kept of an earlier call: `response:resp_1` or
 * `conversation:conv_1`, or `item:msg_1` for the last item that it names instead of sending it; null: it names nothing.
 */
export const keptBefore = (
  api: ModelApi,
  parameters: WideJson,
  messages: readonly WideJsonObject[],
): string | null => {
  if (!isJsonObject(parameters)) return null;
  // Programs that say what they ask name no API.
  if (api !== 'openai.responses' && api !== 'other') return null;
  const previous = textOrNull(parameters['previous_response_id']);
  if (previous !== null) return `response:${previous}`;
  if (api === 'other') return null;
  const conversation = conversationOf(parameters);
  if (conversation !== null) return conversation;
  const last = messages.flatMap(referencesIn).at(-1);
  return last === undefined ? null : `item:${last}`;
};

/** The name of the conversation at the provider that a request belongs to; null: to none. */
export const conversationOf = (parameters: WideJson): string | null => {
  if (!isJsonObject(parameters)) return null;
  const { conversation } = parameters;
  const id = textOrNull(conversation) ?? textOrNull(objectOrEmpty(conversation)['id']);
  return id === null ? null : `conversation:${id}`;
};

/** The name by which a later request names an answer: that of its last item; null: it has none. */
export const nameOfAnswer = (api: ModelApi, answer: WideJson): string | null => {
  if (api !== 'openai.responses' || !isJsonObject(answer)) return null;
  const id = textOrNull(objectOrEmpty(responsesItems(answer).at(-1) ?? null)['id']);
  return id === null ? null : `item:${id}`;
};

/**
 * The messages that a model was shown, of what its provider kept of the calls before and what a request brings.
 *
 * @param kept the messages of the call before, with its answer; its instructions do not hold for another call
 * @returns undefined if the request names an item that is not among them
 */
export const withKept = (
  kept: readonly WideJsonObject[],
  messages: readonly WideJsonObject[],
  how: 'all' | 'items',
): readonly WideJsonObject[] | undefined => {
  if (how === 'items') return withItems(kept, messages);
  const own = isInstructions(messages[0]) ? 1 : 0;
  const before = isInstructions(kept[0]) ? kept.slice(1) : kept;
  return [...messages.slice(0, own), ...before, ...messages.slice(own)];
};

const isInstructions = (message: WideJsonObject | undefined): boolean =>
  message?.['role'] === 'system' && typeof message['content'] === 'string' && message['type'] === undefined;

const withItems = (
  kept: readonly WideJsonObject[],
  messages: readonly WideJsonObject[],
): readonly WideJsonObject[] | undefined => {
  const items = new Map<string, WideJson>();
  for (const item of kept.flatMap(responsesItems)) {
    const id = textOrNull(objectOrEmpty(item)['id']);
    if (id !== null) items.set(id, item);
  }
  const filled: WideJsonObject[] = [];
  for (const message of messages) {
    if (referencesIn(message).length === 0) {
      filled.push(message);
      continue;
    }
    const given = responsesItems(message).map((item) => {
      const id = referenceIn(item);
      return id === null ? item : items.get(id);
    });
    const known = given.filter((item) => item !== undefined);
    if (known.length < given.length) return undefined;
    filled.push(turnOf(known));
  }
  return filled;
};

const referencesIn = (message: WideJsonObject): readonly string[] =>
  isList(message['content']) ? message['content'].flatMap((part) => referenceIn(part) ?? []) : [];

const referenceIn = (item: WideJson): string | null =>
  isJsonObject(item) && item['type'] === 'item_reference' ? textOrNull(item['id']) : null;
