import { diffWordsWithSpace, structuredPatch } from 'diff';

/** A part of two texts: in both, only in the first, or only in the second. */
export type TextDifference = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string };

/** Texts that differ in more words than this are shown one after the other. */
const MOST_EDITS = 2_000;

/** How one text becomes another, word by word. */
export const textDifferences = (first: string, second: string): readonly TextDifference[] => {
  const whole = [
    { kind: 'removed', text: first },
    { kind: 'added', text: second },
  ] as const;
  const found = diffWordsWithSpace(first, second, { maxEditLength: MOST_EDITS });
  if (found === undefined) return whole;
  return found.map(({ added, removed, value }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
};

/** Lines of two texts that lie together: from which line on in each, from 1, and the lines with ` `, `-` or `+` before them. */
export type LineHunk = { readonly a: number; readonly b: number; readonly lines: readonly string[] };

/** Lines around a difference that are the same. */
const CONTEXT = 3;

/** Where two texts differ, line by line; undefined: in more lines than can be compared. */
export const lineDifferences = (first: string, second: string): readonly LineHunk[] | undefined =>
  structuredPatch('', '', first, second, '', '', {
    context: CONTEXT,
    maxEditLength: MOST_EDITS,
  })?.hunks.map(({ oldStart, newStart, lines }) => ({ a: oldStart, b: newStart, lines }));
