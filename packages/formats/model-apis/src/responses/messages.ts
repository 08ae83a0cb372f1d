import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { fieldsUnder, isList, textOrNull } from '../body.ts';
import { turnOf } from './turn.ts';

/**
 * The instructions and the input of OpenAI's Responses API in the form of its chat API. Messages of users and systems
 * are kept as they stand, outputs of calls become `tool` messages, and what the model made in one go (its reasoning,
 * message, calls and any other items) becomes one assistant message. A text is the same as one user message.
 *
 * @throws E_INPUT_SHAPE
 */
export const responsesMessages = (
  instructions: WideJson | undefined,
  input: WideJson | undefined,
): WideJsonObject[] => {
  const mapped = [...instructionsMessage(instructions)];
  if (input === undefined || input === null) return mapped;
  if (typeof input === 'string') return [...mapped, { role: 'user', content: input }];
  return [...mapped, ...itemGroups(input).map(({ message }) => message)];
};

/** The items that each message is made of, from the first to behind the last one. @throws E_INPUT_SHAPE */
export const itemGroups = (
  input: WideJson,
): { readonly message: WideJsonObject; readonly from: number; readonly to: number }[] => {
  if (!isList(input)) throw fail('E_INPUT_SHAPE', 'the input is neither a text nor a list of items');
  const groups: { message: WideJsonObject; from: number; to: number }[] = [];
  let turn: WideJson[] = [];
  const flush = (to: number): void => {
    if (turn.length > 0) groups.push({ message: turnOf(turn), from: to - turn.length, to });
    turn = [];
  };
  for (const [i, item] of input.entries()) {
    const message = messageOf(item);
    if (message === null) {
      turn.push(item);
      continue;
    }
    flush(i);
    groups.push({ message, from: i, to: i + 1 });
  }
  flush(input.length);
  return groups;
};

const instructionsMessage = (instructions: WideJson | undefined): WideJsonObject[] => {
  if (instructions === undefined || instructions === null) return [];
  if (typeof instructions !== 'string') throw fail('E_INPUT_SHAPE', 'the instructions are not a text');
  return [{ role: 'system', content: instructions }];
};

/** Roles of messages that the client writes. */
const CLIENT_ROLES: readonly string[] = ['user', 'system', 'developer'];

/** True for an item that the client made: it begins a message of its own, and ends the one before. */
export const isClientItem = (item: WideJson): boolean => messageOf(item) !== null;

/** The message of an item that the client made; null for an item of the model. */
const messageOf = (item: WideJson): WideJsonObject | null => {
  if (!isJsonObject(item)) return null;
  const type = item['type'] ?? 'message';
  if (type === 'message') return CLIENT_ROLES.includes(textOrNull(item['role']) ?? '') ? item : null;
  if (typeof type !== 'string') return null;
  if (type.endsWith('_call_output')) return toolMessage(item) ?? turnOf([item]);
  return type === 'mcp_approval_response' ? turnOf([item]) : null;
};

const toolMessage = (item: WideJsonObject): WideJsonObject | null => {
  const { type = null, call_id: call, output, ...rest } = item;
  if (typeof call !== 'string' || output === undefined) return null;
  const fields = type === 'function_call_output' ? rest : { type, ...rest };
  return { role: 'tool', tool_call_id: call, content: output, ...fieldsUnder('item', fields) };
};
