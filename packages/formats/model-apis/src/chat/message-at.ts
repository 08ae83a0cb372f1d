import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';

/** The roles of the chat API, old ones too. Any other is refused (E_ROLE_UNKNOWN). */
export const CHAT_ROLES: ReadonlySet<string> = new Set([
  'system',
  'developer',
  'user',
  'assistant',
  'tool',
  'function',
]);

/** The item of a list of messages, as {@link chatMessageAt}; only of one that is refused the name is made. */
export const chatMessage = (value: WideJson, index: number): WideJsonObject =>
  isMessage(value) ? value : chatMessageAt(value, `message ${index}`);

const isMessage = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) && typeof value['role'] === 'string' && CHAT_ROLES.has(value['role']);

/** The value as a message of the chat API. @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN */
export const chatMessageAt = (value: WideJson, where: string): WideJsonObject => {
  if (isMessage(value)) return value;
  if (!isJsonObject(value))
    throw fail('E_INPUT_SHAPE', `${where} is ${nameOf(value)}, not an object with a role`);
  const { role } = value;
  const what = role === undefined ? 'has no role' : `has the role ${canonicalJson(role).slice(0, 60)}`;
  throw fail('E_ROLE_UNKNOWN', `${where} ${what}; roles are ${[...CHAT_ROLES].join(', ')}`);
};

const nameOf = (value: WideJson): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
