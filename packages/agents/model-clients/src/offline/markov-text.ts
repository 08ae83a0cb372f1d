import { openSeededRandom } from './random.ts';

/** Words that are looked at: of a longer text the last ones. */
const MOST_WORDS = 200_000;

/** Sentences end after so many words at the earliest. */
const LEAST_WORDS = 8;

export type MarkovText = { readonly text: string; readonly words: number; readonly isWhole: boolean };

/**
 * A text in which each word follows the two before it as it does somewhere in what is shown: a Markov model whose choices
 * follow from the seed.
 *
 * @param most the most words
 */
export const markovText = (shown: readonly string[], seed: string, most: number): MarkovText => {
  const random = openSeededRandom(seed);
  const words = shown
    .flatMap((text) => text.split(/[ \t\n\r]+/).filter((word) => word !== ''))
    .slice(-MOST_WORDS);
  if (words.length === 0) return { text: '…', words: 1, isWhole: true };
  const following = followersOf(words);
  const starts = startsOf(words);
  let at = starts[random(starts.length)] as number;
  const said = [words[at] as string];
  while (said.length < most) {
    if (said.length >= LEAST_WORDS && endsSentence(said.at(-1) as string)) return whole(said);
    const next = following(at);
    if (next.length === 0) return whole(said);
    at = next[random(next.length)] as number;
    said.push(words[at] as string);
  }
  return { text: said.join(' '), words: said.length, isWhole: false };
};

const whole = (said: readonly string[]): MarkovText => ({
  text: said.join(' '),
  words: said.length,
  isWhole: true,
});

const endsSentence = (word: string): boolean => /[.!?…]["')\]]*$/.test(word);

/** The indexes of words that begin a sentence. */
const startsOf = (words: readonly string[]): readonly number[] =>
  words.flatMap((_, i) => (i === 0 || endsSentence(words[i - 1] as string) ? [i] : []));

/** The words that follow a word and the one before it; if none does, those that follow the word alone. */
const followersOf = (words: readonly string[]): ((at: number) => readonly number[]) => {
  const [pairs, singles] = [new Map<string, number[]>(), new Map<string, number[]>()];
  const note = (found: Map<string, number[]>, key: string, next: number): void => {
    const known = found.get(key);
    if (known === undefined) found.set(key, [next]);
    else known.push(next);
  };
  for (let i = 0; i + 1 < words.length; i++) {
    note(singles, words[i] as string, i + 1);
    if (i > 0) note(pairs, `${words[i - 1] as string} ${words[i] as string}`, i + 1);
  }
  return (at) =>
    (at > 0 ? pairs.get(`${words[at - 1] as string} ${words[at] as string}`) : undefined) ??
    singles.get(words[at] as string) ??
    [];
};
