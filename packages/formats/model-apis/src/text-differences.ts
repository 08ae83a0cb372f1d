import { diffWordsWithSpace } from 'diff';

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
