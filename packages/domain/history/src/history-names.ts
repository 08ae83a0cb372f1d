import { base32Digest } from '@stemma/canonical';
import { type ErrorCode, fail, isStemmaError } from '@stemma/errors';
import { historyId } from './history-id.ts';

/** What the start of a history is refused with for its name: there is one, whatever state it is in, or it looks like a secret. */
const IS_REFUSED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'E_HISTORY_EXISTS',
  'E_HISTORY_ERASED',
  'E_HISTORY_SEALED',
  'E_HISTORY_DAMAGED',
  'E_HISTORY_DEFECTIVE',
  'E_REDACTION_REFUSED',
]);

/** Many conversations begin alike: what follows the fourth is not counted, so that the thousandth does not try a thousand names. */
const NUMBERS = [2, 3, 4];

/** The names that a command tries for a history: the name, with `-2` to `-4`, with a hash of the command, none. */
export const namesLike = (
  name: string | undefined,
  command: string,
  isFree: (name: string) => boolean = () => true,
): readonly (string | null)[] => {
  if (name === undefined) return [null];
  const numbered = [name, ...NUMBERS.map((number) => `${name}-${number}`)];
  return [...numbered.filter(isFree), `${name}-${base32Digest(command, 6)}`, null];
};

/**
 * Starts a history under the first name that is free; what starts it tells a name of its own by the command. Started again it is
 * the same.
 *
 * @param names as {@link namesLike}
 */
export const underFreeName = async <T>(
  names: readonly (string | null)[],
  command: string,
  start: (name: string | null, history: string) => Promise<T>,
  took: (name: string | null, command: string | null) => void = () => {},
): Promise<T> => {
  for (const name of names)
    try {
      const started = await start(name, historyId(name, command));
      took(name, command);
      return started;
    } catch (error) {
      if (name === null || !isStemmaError(error) || !IS_REFUSED.has(error.code)) throw error;
      took(name, null);
    }
  throw fail('E_INTERNAL', 'a history without a name was not started');
};
