/**
 * The terms of a text: runs of letters, digits and what belongs to them, in lower case and in Unicode's form NFKC; an apostrophe
 * between letters belongs to the term. Of scripts that put no space between words, each character is a term.
 */
export const termsOf = (text: string): readonly string[] =>
  text.normalize('NFKC').toLowerCase().replaceAll('’', "'").match(TERM) ?? [];

const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const SPACED = String.raw`(?![${UNSPACED}])[\p{L}\p{N}\p{M}]`;
const TERM = new RegExp(String.raw`[${UNSPACED}]\p{M}*|(?:${SPACED})+(?:'(?:${SPACED})+)*`, 'gu');

/** How often terms occur, each term by its number in a {@link Vocabulary}. */
export type Vocabulary = {
  /** In the order of their code units. */
  readonly terms: readonly string[];
  /** Of each text the number and count of each of its terms, by number. */
  readonly texts: readonly (readonly (readonly [term: number, count: number])[])[];
};

/** The terms of all texts together. */
export const vocabularyOf = (texts: readonly string[]): Vocabulary => {
  const found = texts.map(termsOf);
  const terms = [...new Set(found.flat())].sort((a, b) => (a < b ? -1 : 1));
  const numbers = new Map(terms.map((term, number) => [term, number]));
  return {
    terms,
    texts: found.map((ofText) => {
      const counts = new Map<number, number>();
      for (const term of ofText) {
        const number = numbers.get(term) ?? 0;
        counts.set(number, (counts.get(number) ?? 0) + 1);
      }
      return [...counts].sort(([a], [b]) => a - b);
    }),
  };
};
