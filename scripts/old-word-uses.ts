import { oldNames, oldWords, oldWordsOfNames, type AllowedUse, type OldWord } from './old-words.ts';

/** An old word, where it is, and what stands in its place now. `line` 0 is the name of the file. */
export type OldWordUse = {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly say: string;
};

type Word = { readonly text: string; readonly start: number; readonly end: number };
type Phrase = { readonly words: readonly string[]; readonly entry: OldWord };

/** The words of prose and of identifiers in any style: `oneWord`, `ONE_WORD` and `one-word` are two each. */
const WORD = /[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+/g;
/** What may be between the words of one phrase: little, and nothing that ends a sentence. */
const GAP = /^[\s_*/-]{0,16}$/;
/** The end of a line, and what leads the next one in a comment. */
const LINE_END = /\n\s*(?:\*(?!\/)|\/\/|>)?/g;

/** Every old word in a file's path and text, in its order. */
export function oldWordUses(file: string, source: string): OldWordUse[] {
  return [...usesIn(file, 0, file, everywhere), ...usesIn(file, 1, source, everywhere)];
}

/** Every old word that names a file of code or an exported type, though it is plain English elsewhere. */
export function oldNameUses(file: string, line: number, name: string): OldWordUse[] {
  return [...usesIn(file, line, name, inNames), ...usesIn(file, line, name, wholeNames, true)];
}

const everywhere = phrasesByFirstWord(oldWords);
const inNames = phrasesByFirstWord(oldWordsOfNames);
const wholeNames = phrasesByFirstWord(oldNames);

function usesIn(
  file: string,
  firstLine: number,
  text: string,
  phrases: ReadonlyMap<string, readonly Phrase[]>,
  whole = false,
): OldWordUse[] {
  const words = [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    text: word.toLowerCase(),
    start: index,
    end: index + word.length,
  }));
  const allowed = new Map<OldWord, readonly [number, number][]>();
  return words.flatMap((first, index) =>
    (phrases.get(first.text) ?? []).flatMap(({ words: phrase, entry }) => {
      const last = words[index + phrase.length - 1];
      if (last === undefined || !matches(words, index, phrase, text)) return [];
      if (whole && words.length > phrase.length) return [];
      const ranges = allowed.get(entry) ?? allowedRanges(entry.allowed ?? [], file, text);
      allowed.set(entry, ranges);
      if (ranges.some(([from, to]) => from <= first.start && last.end <= to)) return [];
      const line = firstLine === 0 ? 0 : firstLine + text.slice(0, first.start).split('\n').length - 1;
      return [{ file, line, found: phrase.join(' '), say: entry.say }];
    }),
  );
}

function matches(words: readonly Word[], index: number, phrase: readonly string[], text: string): boolean {
  return phrase.every((expected, i) => {
    const word = words[index + i];
    const before = words[index + i - 1];
    if (word?.text !== expected) return false;
    return i === 0 || before === undefined || GAP.test(text.slice(before.end, word.start));
  });
}

function allowedRanges(uses: readonly AllowedUse[], file: string, text: string): [number, number][] {
  const prose = text.replace(LINE_END, (end) => ' '.repeat(end.length));
  return uses
    .filter(({ only }) => only === undefined || only.some((start) => file.startsWith(start)))
    .flatMap((use) => [...prose.matchAll(new RegExp(use.text.source.replaceAll(' ', '\\s+'), 'gi'))])
    .map(({ 0: found, index }) => [index, index + found.length]);
}

function phrasesByFirstWord(entries: readonly OldWord[]): ReadonlyMap<string, readonly Phrase[]> {
  const phrases = entries.flatMap((entry) => entry.old.map((old) => ({ words: old.split(' '), entry })));
  return Map.groupBy(phrases, ({ words }) => words[0] ?? '');
}
