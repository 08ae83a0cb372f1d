import { diffWordsWithSpace } from 'diff';
import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.tsx';

/** More differing words than this are no alignment any more: all of one text, and all of the other. */
const MOST_EDITS = 1_500;

export type WordRun = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string };

/** What became of a text, word by word. */
export const wordRuns = (a: string, b: string): readonly WordRun[] => {
  const found = diffWordsWithSpace(a, b, { maxEditLength: MOST_EDITS });
  if (found === undefined)
    return [
      { kind: 'removed', text: a },
      { kind: 'added', text: b },
    ];
  return found.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
};

/** One side of two texts: what only it has is marked in place. */
export const DiffedText = ({
  runs,
  side,
}: {
  readonly runs: readonly WordRun[];
  readonly side: 'a' | 'b';
}): ComponentChildren => {
  const hidden = side === 'a' ? 'added' : 'removed';
  return (
    <pre class="content text">
      {runs
        .filter(({ kind }) => kind !== hidden)
        .map(({ kind, text }, i) =>
          kind === 'same' ? (
            <SafeText key={i} text={text} />
          ) : kind === 'removed' ? (
            <del key={i}>
              <SafeText text={text} />
            </del>
          ) : (
            <ins key={i}>
              <SafeText text={text} />
            </ins>
          ),
        )}
    </pre>
  );
};
