import { fail } from '@stemma/errors';

/*
 * What people type in a search box: words that must all stand in a text, `"a phrase"`, `begin*` of a word, `-not`. Upper and
 * lower case and accents are alike. A name of several words (`getUserName`) is found by each of them, by some in a row, and whole.
 */

/** One thing that a text must have, or must not have: consecutive words. */
export type Term = {
  /** Folded: lower case, without accents. */
  readonly words: readonly string[];
  /** The whole of a name that the words are: a text may write it in one case, too. */
  readonly name: string | null;
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
/**
 * Scripts that write no spaces, or words without a space before what is added to them (Korean): each character is a word, and what
 * stands together is a phrase. A syllable of Hangul may be written letter by letter.
 */
const UNSPACED =
  /[\u1100-\u115f\ua960-\ua97c][\u1160-\u11a7\ud7b0-\ud7c6]+[\u11a8-\u11ff\ud7cb-\ud7fb]*|[\uac00-\ud7a3][\u11a8-\u11ff\ud7cb-\ud7fb]*|[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3192-\u319f\u3220-\u3247\u3280-\u32b0]\p{M}*/gu;

/** The words of a name: `get`, `User` and `Name`, `HTTP` and `Server`, `utf` and `8`. */
const NAME_WORD =
  /\p{M}*(?:\p{Lu}\p{M}*)+(?![\p{M}\p{Ll}])|\p{M}*(?:\p{Lu}\p{M}*)?(?:[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{Co}]\p{M}*)+|\p{N}+|[\p{Lu}\p{M}]+/gu;
/** A name of more words, or with more numbers, is none that people give: hashes and data are one word. */
const MOST_NAME_WORDS = 8;
const MOST_NAME_NUMBERS = 2;

/** Of a longer word its beginning counts, in UTF-16 units: contents hold images as texts. */
const LONGEST_WORD = 128;

/** Lower case, without accents, the same for the same letters in any of their encodings. */
const fold = (word: string): string =>
  word
    .slice(0, LONGEST_WORD)
    // Letters of full and half width too.
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}\p{Mc}\p{Me}\p{Co}]/gu, '')
    .normalize('NFC')
    .toLowerCase();

type Word = { readonly word: string; readonly from: number; readonly to: number };

/** The words of a text, and the names that are several of them. */
export type CutText = {
  /** Folded, in order, each with its place in the text as it stands (UTF-16). */
  readonly words: readonly Word[];
  /** Each name whole. */
  readonly names: readonly Word[];
};

export const cutText = (text: string): CutText => {
  const words: Word[] = [];
  const names: Word[] = [];
  const put = (run: string, from: number, into: Word[]): void => {
    const word = fold(run);
    if (word !== '') into.push({ word, from, to: from + run.length });
  };
  const putRun = (run: string, from: number): void => {
    const parts = run.length > LONGEST_WORD ? [] : [...run.matchAll(NAME_WORD)];
    const numbers = parts.filter(([part]) => /^\p{N}/u.test(part)).length;
    if (parts.length < 2 || parts.length > MOST_NAME_WORDS || numbers > MOST_NAME_NUMBERS) {
      put(run, from, words);
      return;
    }
    for (const part of parts) put(part[0], from + part.index, words);
    put(run, from, names);
  };
  for (const match of text.matchAll(WORD)) {
    const [run] = match;
    let at = 0;
    for (const unspaced of run.matchAll(UNSPACED)) {
      if (unspaced.index > at) putRun(run.slice(at, unspaced.index), match.index + at);
      at = unspaced.index + unspaced[0].length;
      put(run.slice(unspaced.index, at), match.index + unspaced.index, words);
    }
    if (at < run.length) putRun(run.slice(at), match.index + at);
  }
  return { words, names };
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
    const cut = cutText(text);
    const words = cut.words.map(({ word }) => word);
    if (words.length === 0) continue;
    const prefix = phrase === undefined ? text.endsWith('*') : star === '*';
    const [whole] = cut.names;
    const isName = whole?.from === cut.words[0]?.from && whole?.to === cut.words.at(-1)?.to;
    terms.push({ words, name: isName ? (whole?.word ?? null) : null, prefix, not: minus === '-' });
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

/** The places of a text where a term stands: its words in a row, or one word or name that is the only word of the term or its name. */
const placesOf = (
  { words, names }: CutText,
  term: Term,
): readonly (readonly [from: number, to: number])[] => {
  const isLike = (here: string, wanted: string, isLast: boolean): boolean =>
    term.prefix && isLast ? here.startsWith(wanted) : here === wanted;
  const found: (readonly [number, number])[] = [];
  const last = term.words.length - 1;
  for (let at = 0; at + last < words.length; at++)
    if (term.words.every((word, i) => isLike((words[at + i] as Word).word, word, i === last)))
      found.push([(words[at] as Word).from, (words[at + last] as Word).to]);
  const whole = term.name ?? (last === 0 ? term.words[0] : undefined);
  if (whole === undefined) return found;
  for (const { word, from, to } of [...(term.name === null ? [] : words), ...names])
    if (isLike(word, whole, true)) found.push([from, to]);
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
  const cut = cutText(text);
  const places = terms.flatMap((term) => (term.not ? [] : placesOf(cut, term)));
  places.sort(([a, c], [b, d]) => a - b || d - c);
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
