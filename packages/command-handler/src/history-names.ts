import { base32Digest, type WideJson } from '@stemma/canonical';
import type { ErrorCode } from '@stemma/errors';
import { nameOfMessages } from '@stemma/importers';

/** Names of histories that nobody named, after what is said first in them. */
export type HistoryNames = {
  /**
   * The names that a command tries one after the other: the words, with `-2` to `-4`, with a hash of the command, none. The same
   * ones whenever it is sent again, except those that another command is known to have.
   */
  proposed(messages: readonly WideJson[], command: string): readonly (string | null)[];
  /** A name is taken: by a command of this process, or by somebody else. */
  took(name: string | null, command: string | null): void;
};

/** What the start of a history is refused with if there is one of the name, whatever state it is in. */
export const IS_THERE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'E_HISTORY_EXISTS',
  'E_HISTORY_ERASED',
  'E_HISTORY_SEALED',
  'E_HISTORY_DAMAGED',
  'E_HISTORY_DEFECTIVE',
]);

/** Many conversations begin alike: what follows the fourth is not counted, so that the thousandth does not try a thousand names. */
const NUMBERS = [2, 3, 4];
const MAX_KNOWN = 10_000;

export const openHistoryNames = (): HistoryNames => {
  const taken = new Map<string, string | null>();
  return {
    proposed: (messages, command) => {
      const words = nameOfMessages(messages);
      if (words === undefined) return [null];
      const numbered = [words, ...NUMBERS.map((number) => `${words}-${number}`)];
      const free = numbered.filter((name) => !taken.has(name) || taken.get(name) === command);
      return [...free, `${words}-${base32Digest(command, 6)}`, null];
    },
    took: (name, command) => {
      if (name === null) return;
      if (taken.size >= MAX_KNOWN) taken.clear();
      taken.set(name, command);
    },
  };
};
