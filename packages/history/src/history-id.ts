import { base32Digest } from '@stemma/canonical';
import { fail } from '@stemma/errors';

/**
 * The id of a history that starts: made from its name alone, so that two starts of one name meet at `seq` 0; without a
 * name from the command that starts it, so that a repeated start does not make two (record §3).
 */
export const historyId = (name: string | null, command: string): string =>
  'h' + base32Digest(name === null ? `command:${command}` : `name:${name}`, 20);

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** A name of a history, branch or position (context-tree §5). @throws E_NAME_INVALID */
export const checkName = (name: string): string => {
  if (!NAME.test(name))
    throw fail('E_NAME_INVALID', `${JSON.stringify(name.slice(0, 140))} is not a valid name`);
  return name;
};
