import { fail } from '@stemma/errors';
import type { NameConversation } from '@stemma/importers';
import { asName, nameOfFile } from './import-files.ts';

/** Names the conversations of a file. */
export type NameFile = (file: string) => string | null | NameConversation;

/** The name of what comes from a pipe and says nothing. */
const PIPE = 'stdin';

const PLACEHOLDER = /\{(file|n)\}/g;

/**
 * How histories are named. By default after what the file calls the conversation (`name`), else after the file, with a number
 * behind it if there are several in it; from a pipe after what is said first. With `--history`: a plain name for one conversation, or a pattern in which `{file}`
 * is the name of the file and `{n}` the number of the conversation among all.
 *
 * @param isErasable what is said must go when the history is erased, and its name stays
 * @throws E_USAGE for a plain name and several files
 */
export const openNames = (given: string | undefined, files: number, isErasable = false): NameFile => {
  if (given === undefined)
    return (file) =>
      ({ index, count, title, words }) => {
        const base = nameOfFile(file);
        const own = title === null ? undefined : asName(title);
        // A pipe has no name: what is said first in it tells it from others.
        if (base === undefined) return own ?? (isErasable ? null : words) ?? PIPE;
        return own ?? (count === 1 ? base : `${base}-${index + 1}`);
      };
  if (given.search(PLACEHOLDER) === -1) {
    if (files > 1)
      throw fail(
        'E_USAGE',
        `--history names one history, but ${files} files are given: put {file} or {n} into the name, for instance ${given}-{file}`,
      );
    return () => given;
  }
  let before = 0;
  return (file) => {
    const first = before;
    return ({ index, count }) => {
      before = Math.max(before, first + count);
      const several = count > 1 && !given.includes('{n}') ? `-${index + 1}` : '';
      const values = {
        file: nameOfFile(file) ?? (file === '-' ? PIPE : 'file'),
        n: String(first + index + 1),
      };
      return given.replace(PLACEHOLDER, (_, key: 'file' | 'n') => values[key]) + several;
    };
  };
};
