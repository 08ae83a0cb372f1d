import { roleOf, type Headers } from '@stemma/context-tree';

/** Tokens by who says the messages. */
export type RoleTokens = {
  readonly system: number;
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
  readonly other: number;
};

export type MessageRole = keyof RoleTokens;

export const NO_TOKENS: RoleTokens = { system: 0, user: 0, assistant: 0, tool: 0, other: 0 };

const ROLES: Readonly<Record<string, MessageRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** Who says a message of the thread. */
export const messageRole = (headers: Headers, inSys: boolean): MessageRole => {
  const role = roleOf(headers, inSys) ?? '';
  return Object.hasOwn(ROLES, role) ? (ROLES[role] ?? 'other') : 'other';
};
