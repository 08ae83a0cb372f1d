import { fail } from '@stemma/errors';

/*
 * What people type in a search box: words that must all stand in a text, `"a phrase"`, `begin*` of a word, `-not`. Upper and
 * lower case and accents are alike.
 */

/** One thing that a text must have, or must not have: consecutive words. */
export type Term = {
  /** Folded: lower case, without accents. */
  readonly words: readonly string[];
  /** The last word is only the beginning of one. */
  readonly prefix: boolean;
  readonly not: boolean;
};

/** The longest query, in UTF-16 units. */
const LONGEST_QUERY = 1_000;
/** The most terms of a query. */
const MOST_TERMS = 32;
/** The most terms that are beginnings: each is many words. */
const MOST_PREFIXES = 8;

const TERM = /(-?)(?:"([^"]*)(?:"|$)(\*?)|([^\s"]+))/gu;
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
/** Scripts that write no spaces: each character is a word, and what stands together is a phrase. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu;

/** Of a longer word its beginning counts, in UTF-16 units: contents hold images as texts. */
const LONGEST_WORD = 128;

/** Lower case, without accents, the same for the same letters in any of their encodings. */
const fold = (word: string): string =>
  word
    .slice(0, LONGEST_WORD)
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase();

/** The words of a text, folded, in order, each with its place in the text as it stands (UTF-16). */
export const wordsOf = (
  text: string,
): readonly { readonly word: string; readonly from: number; readonly to: number }[] => {
  const found: { word: string; from: number; to: number }[] = [];
  for (const match of text.matchAll(WORD)) {
    const [run] = match;
    let at = 0;
    const put = (from: number, to: number): void => {
      const word = fold(run.slice(from, to));
      if (word !== '') found.push({ word, from: match.index + from, to: match.index + to });
    };
    for (const unspaced of run.matchAll(UNSPACED)) {
      if (unspaced.index > at) put(at, unspaced.index);
      at = unspaced.index + unspaced[0].length;
      put(unspaced.index, at);
    }
    if (at < run.length) put(at, run.length);
  }
  return found;
};

/**
 * The terms of a query. @throws E_SEARCH_INVALID if it has no word, only words that must not stand there, or is too long
 */
export const parseQuery = (query: string): readonly Term[] => {
  if (query.length > LONGEST_QUERY)
    throw fail('E_SEARCH_INVALID', `the query has more than ${LONGEST_QUERY} characters`);
  const terms: Term[] = [];
  for (const [, minus, phrase, star, plain] of query.matchAll(TERM)) {
    const text = phrase ?? plain ?? '';
    const words = wordsOf(text).map(({ word }) => word);
    if (words.length === 0) continue;
    const prefix = phrase === undefined ? text.endsWith('*') : star === '*';
    terms.push({ words, prefix, not: minus === '-' });
  }
  if (terms.length > MOST_TERMS)
    throw fail('E_SEARCH_INVALID', `the query has more than ${MOST_TERMS} terms`);
  if (terms.filter(({ prefix }) => prefix).length > MOST_PREFIXES)
    throw fail('E_SEARCH_INVALID', `the query has more than ${MOST_PREFIXES} beginnings of words`);
  if (terms.every(({ not }) => not))
    throw fail(
      'E_SEARCH_INVALID',
      terms.length === 0 ? 'the query has no word' : 'the query only says what must not be there',
    );
  return terms;
};

/** The places of a text where a term stands, as indexes of its words. */
const placesOf = (words: readonly { readonly word: string }[], term: Term): readonly number[] => {
  const found: number[] = [];
  for (let at = 0; at + term.words.length <= words.length; at++)
    if (
      term.words.every((word, i) => {
        const here = (words[at + i] as { readonly word: string }).word;
        return term.prefix && i === term.words.length - 1 ? here.startsWith(word) : here === word;
      })
    )
      found.push(at);
  return found;
};

export type MarkedExcerpt = {
  /** One line; `…` where something is left out. */
  readonly text: string;
  /** Where the words that were looked for stand in it: [from, to), in UTF-16 units. */
  readonly marks: readonly (readonly [from: number, to: number])[];
};

/** How much of the text before the first place is shown, and how much at most, in UTF-16 units. */
const BEFORE = 40;
const LENGTH = 200;

/** The part of a text in which the terms stand. The beginning, without marks, if none of them does. */
export const excerptOf = (text: string, terms: readonly Term[]): MarkedExcerpt => {
  const words = wordsOf(text);
  const places: (readonly [number, number])[] = [];
  for (const term of terms)
    if (!term.not)
      for (const at of placesOf(words, term))
        places.push([
          (words[at] as { readonly from: number }).from,
          (words[at + term.words.length - 1] as { readonly to: number }).to,
        ]);
  places.sort(([a], [b]) => a - b);
  const first = places[0]?.[0] ?? 0;
  const start = first <= BEFORE ? 0 : wholeCharacter(text, wordStart(text, first - BEFORE));
  const end = wholeCharacter(text, Math.min(text.length, start + LENGTH));
  const lead = start > 0 ? '…' : '';
  const marks: (readonly [number, number])[] = [];
  for (const [from, to] of places) {
    const last = marks.at(-1);
    const shown = [from - start + lead.length, to - start + lead.length] as const;
    if (from < start || to > end || (last !== undefined && shown[0] < last[1])) continue;
    marks.push(shown);
  }
  // One character for one: the marks stay where they are.
  const line = text.slice(start, end).replace(/\s/gu, ' ');
  return { text: `${lead}${line}${end < text.length ? '…' : ''}`, marks };
};

const wordStart = (text: string, at: number): number => {
  const space = text.slice(at, at + BEFORE / 2).search(/\s/u);
  return space < 0 ? at : at + space + 1;
};

/** Never between the halves of a character. */
const wholeCharacter = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
};
