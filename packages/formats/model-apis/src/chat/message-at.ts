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

/** The value as a message of the chat API. @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN */
export const chatMessageAt = (value: WideJson, where: string): WideJsonObject => {
  if (!isJsonObject(value))
    throw fail('E_INPUT_SHAPE', `${where} is ${nameOf(value)}, not an object with a role`);
  const { role } = value;
  if (typeof role === 'string' && CHAT_ROLES.has(role)) return value;
  const what = role === undefined ? 'has no role' : `has the role ${canonicalJson(role).slice(0, 60)}`;
  throw fail('E_ROLE_UNKNOWN', `${where} ${what}; roles are ${[...CHAT_ROLES].join(', ')}`);
};

const nameOf = (value: WideJson): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
