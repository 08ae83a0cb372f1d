import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { fieldsUnder, hasAny, isList } from '../body.ts';
import { assistantMessage } from './assistant-message.ts';

/** `tool_result` is part of a user message here, so there is no role `tool`. */
const ROLES: readonly string[] = ['user', 'assistant', 'system', 'developer'];

/**
 * The messages of Anthropic's API in the form of OpenAI's chat API. A user message is cut at its `tool_result` blocks:
 * each becomes a `tool` message, the blocks between them user messages. A message after a `tool` message belongs to the
 * same message as that one, and any other does not; where it is otherwise, `same_message` says so. Fields of a message
 * that the API does not know are under `message_fields` of its first piece.
 *
 * @param pieces the messages that one becomes: {@link piecesOf}, or one that remembers them
 * @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN
 */
export const anthropicMessages = (
  system: WideJson | undefined,
  messages: WideJson | undefined,
  pieces: MessagePieces = piecesOf,
): WideJsonObject[] => {
  if (!isList(messages)) throw fail('E_INPUT_SHAPE', 'the request has no list of messages');
  const mapped = systemMessages(system);
  for (const [i, value] of messages.entries()) {
    const before = mapped.at(-1)?.['role'];
    for (const [piece, message] of pieces(value, `message ${i}`).entries())
      mapped.push(piece === 0 ? asFirst(message, before) : message);
  }
  return mapped;
};

const systemMessages = (system: WideJson | undefined): WideJsonObject[] => {
  if (system === undefined || system === null) return [];
  if (typeof system !== 'string' && !isList(system))
    throw fail('E_INPUT_SHAPE', 'the system prompt is neither a text nor a list of blocks');
  return [{ role: 'system', content: system }];
};

const asFirst = (message: WideJsonObject, before: WideJson | undefined): WideJsonObject =>
  before === 'tool' &&
  (message['role'] === 'tool' || (message['role'] === 'user' && isList(message['content'])))
    ? { ...message, same_message: false }
    : message;

/** The messages that one message becomes. @param where what it is called in errors */
export type MessagePieces = (value: WideJson, where: string) => readonly WideJsonObject[];

/** As {@link piecesOf}; of a message that is the same object, the same ones. */
export const openKnownPieces = (): MessagePieces => {
  const known = new WeakMap<object, readonly WideJsonObject[]>();
  return (value, where) => {
    if (!isJsonObject(value)) return piecesOf(value, where);
    const pieces = known.get(value) ?? piecesOf(value, where);
    known.set(value, pieces);
    return pieces;
  };
};

/** The messages that one message becomes. */
export const piecesOf = (value: WideJson, where: string): WideJsonObject[] => {
  if (!isJsonObject(value)) throw fail('E_INPUT_SHAPE', `${where} is not an object with a role`);
  const { role, content, ...rest } = value;
  if (typeof role !== 'string' || !ROLES.includes(role))
    throw fail('E_ROLE_UNKNOWN', `${where} has a role that is none of ${ROLES.join(', ')}`);
  const fields = fieldsUnder('message_fields', rest);
  if (isList(content) && role === 'assistant') return [{ ...assistantMessage(content), ...fields }];
  if (!isList(content) || role !== 'user') return [{ role, ...defined({ content }), ...fields }];
  const [first = { role, content }, ...others] = cutAtResults(content);
  return [{ ...first, ...fields }, ...others];
};

const cutAtResults = (blocks: readonly WideJson[]): WideJsonObject[] => {
  const pieces: WideJsonObject[] = [];
  let parts: WideJson[] = [];
  const flush = (): void => {
    if (parts.length > 0) pieces.push({ role: 'user', content: parts });
    parts = [];
  };
  for (const block of blocks) {
    const result = toolMessage(block);
    if (result === null) {
      parts.push(block);
      continue;
    }
    flush();
    pieces.push(pieces.at(-1)?.['role'] === 'user' ? { ...result, same_message: true } : result);
  }
  flush();
  return pieces;
};

/** The names that a tool message has for other things: a block with such a field is kept as a part. */
const TAKEN = ['role', 'tool_call_id', 'tool_calls', 'function_call', 'same_message', 'message_fields'];

const toolMessage = (block: WideJson): WideJsonObject | null => {
  if (!isJsonObject(block) || block['type'] !== 'tool_result' || hasAny(block, TAKEN)) return null;
  const { type: _type, tool_use_id: call, ...rest } = block;
  return typeof call === 'string' ? { role: 'tool', tool_call_id: call, ...rest } : null;
};
