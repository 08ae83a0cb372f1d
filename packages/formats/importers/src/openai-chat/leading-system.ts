import { isJsonObject, type WideJson } from '@stemma/canonical';
import { SYSTEM_ROLES } from './fields.ts';

/** How many messages a list begins with that are the system's. */
export const leadingSystem = (messages: readonly WideJson[]): number => {
  const at = messages.findIndex(
    (message) => !isJsonObject(message) || !SYSTEM_ROLES.has(message['role'] as string),
  );
  return at === -1 ? messages.length : at;
};
