import { abbreviated, changedLines, type TextDifference } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.tsx';
import { wordRuns } from './word-diff.tsx';
import { plural } from './words.ts';

/** The lines in which two texts differ, each with one around it; what went is struck through, what came is underlined. */
export const ChangedText = ({ a, b }: { readonly a: string; readonly b: string }): ComponentChildren => (
  <pre class="content text changed-text" tabIndex={0} role="region" aria-label="What differs">
    {changedLines(wordRuns(a, b)).map((line, i) =>
      line.what === 'equal' ? (
        <span key={i} class="quiet">{`… ${plural(line.lines, 'equal line')}\n`}</span>
      ) : (
        <span key={i}>
          {line.parts.map(changedPart)}
          {'\n'}
        </span>
      ),
    )}
  </pre>
);

const changedPart = ({ kind, text }: TextDifference, i: number): ComponentChildren => {
  if (kind === 'same') return <SafeText key={i} text={text} />;
  // An empty part is a line end that only one text has.
  const shown = <SafeText text={text === '' ? '¶' : abbreviated(text)} />;
  return kind === 'removed' ? <del key={i}>{shown}</del> : <ins key={i}>{shown}</ins>;
};
