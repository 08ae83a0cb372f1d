import type { WideJson } from '@stemma/canonical';
import { namesLike } from '@stemma/history';
import { nameOfMessages } from '@stemma/importers';

/** Names of histories that nobody named, after what is said first in them. */
export type HistoryNames = {
  /**
   * The names that a command tries one after the other: the words, with `-2` to `-4`, with a hash of the command, none. The same
   * ones whenever it is sent again, except those that another command is known to have.
   */
  proposed(messages: readonly WideJson[], command: string): readonly (string | null)[];
  /** A name is taken: by a command of this process, or by somebody else. */
  readonly took: (name: string | null, command: string | null) => void;
};

const MAX_KNOWN = 10_000;

export const openHistoryNames = (): HistoryNames => {
  const taken = new Map<string, string | null>();
  return {
    proposed: (messages, command) =>
      namesLike(nameOfMessages(messages), command, (name) => !taken.has(name) || taken.get(name) === command),
    took: (name, command) => {
      if (name === null) return;
      if (taken.size >= MAX_KNOWN) taken.clear();
      taken.set(name, command);
    },
  };
};
