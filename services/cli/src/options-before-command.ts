import type { Option } from 'commander';

type KnownOption = Pick<Option, 'short' | 'long' | 'optional' | 'required'>;

/**
 * The words of a command line whose argument is a command without `--` before it, such as `--intercept codex exec`. An option that may
 * have a value has it behind `=` there, since the next word is the command; one that needs a value has the next word, and no more.
 *
 * @returns the same, with each value joined to its option; as they are where the options end with `--`
 */
export const optionsBeforeCommand = (options: readonly KnownOption[], words: readonly string[]): string[] => {
  const find = (word: string): KnownOption | undefined =>
    options.find(({ short, long }) => word === long || word === short);
  if (endsWithDashes(words, find)) return [...words];
  const joined: string[] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at] as string;
    if (!isOption(word)) break;
    const option = find(word);
    if (option?.optional === true) joined.push(`${word}=`);
    else if (option?.required === true && at + 1 < words.length) joined.push(`${word}=${words[++at]}`);
    else joined.push(word);
  }
  return [...joined, ...words.slice(at)];
};

const isOption = (word: string): boolean => word.startsWith('-') && word !== '-' && word !== '--';

/** True if the options, each with a value where it may have one, are followed by `--`. */
const endsWithDashes = (
  words: readonly string[],
  find: (word: string) => KnownOption | undefined,
): boolean => {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === '--') return true;
    if (!isOption(word)) return false;
    const option = find(word);
    const next = words[at + 1];
    const takes = option?.optional === true || option?.required === true;
    if (takes && next !== undefined && !isOption(next) && next !== '--') at++;
  }
  return false;
};
