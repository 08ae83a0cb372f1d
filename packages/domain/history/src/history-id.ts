import { base32Digest } from '@stemma/canonical';
import { fail, isName } from '@stemma/errors';

/**
 * The id of a new history: made from its name alone, so that two starts with one name conflict at `seq` 0; without a
 * name, from the id of the command, so that a repeated start does not make two histories (record §3).
 */
export const historyId = (name: string | null, command: string): string =>
  'h' + base32Digest(name === null ? `command:${command}` : `name:${name}`, 20);

/** A valid name of a history, branch or position (context-tree §5). @throws E_NAME_INVALID */
export const checkName = (name: string): string => {
  if (!isName(name))
    throw fail('E_NAME_INVALID', `${JSON.stringify(name.slice(0, 140))} is not a valid name`);
  return name;
};
