import { isJsonObject, type WideJson } from '@stemma/canonical';
import { SYSTEM_ROLES } from './fields.ts';

/** True for the roles of whoever runs the model. */
export const isSystemRole = (role: WideJson | undefined): boolean => SYSTEM_ROLES.has(role as string);

/** How many messages a list begins with that are the system's. */
export const leadingSystem = (messages: readonly WideJson[]): number => {
  const at = messages.findIndex((message) => !isSystemMessage(message));
  return at === -1 ? messages.length : at;
};

/** The indexes of those behind them. */
export const systemBetween = (messages: readonly WideJson[]): ReadonlySet<number> => {
  const leading = leadingSystem(messages);
  return new Set([...messages.keys()].filter((i) => i > leading && isSystemMessage(messages[i])));
};

const isSystemMessage = (message: WideJson | undefined): boolean =>
  isJsonObject(message) && isSystemRole(message['role']);
