import type { TextDifference } from '@stemma/model-apis';

/** A line of two texts that were compared, or how many lines in a row are left out as both texts have them. */
export type ChangedLine =
  | { readonly what: 'line'; readonly parts: readonly TextDifference[] }
  | { readonly what: 'equal'; readonly lines: number };

/** So many equal lines are shown before and behind a changed one. */
const AROUND = 1;

/** A text of one line is shown so far before and behind what changed. */
const AROUND_IN_LINE = 60;

/**
 * The lines of two texts in which they differ, each with one equal line around it. `pier 2\n3 ships\nberth 7` and `pier 2\n9 ships\nberth 7`
 * give all three lines; of ten equal lines more only their number is told. Long equal parts of a line are cut in the middle.
 *
 * @param parts how one text becomes the other
 */
export const changedLines = (parts: readonly TextDifference[]): readonly ChangedLine[] => {
  const lines = linesOf(parts);
  const near = lines.map(() => false);
  lines.forEach((line, i) => {
    if (!isChanged(line)) return;
    for (let at = Math.max(0, i - AROUND); at <= Math.min(lines.length - 1, i + AROUND); at++)
      near[at] = true;
  });
  const shown: ChangedLine[] = [];
  let left = 0;
  lines.forEach((line, i) => {
    if (near[i] !== true) {
      left++;
      return;
    }
    if (left > 0) shown.push({ what: 'equal', lines: left });
    left = 0;
    shown.push({ what: 'line', parts: shortened(line) });
  });
  if (left > 0) shown.push({ what: 'equal', lines: left });
  return shown;
};

const isChanged = (line: readonly TextDifference[]): boolean => line.some(({ kind }) => kind !== 'same');

/** The parts of each line. A line end that only one text has belongs to the line before it, as an empty part if that line has no other. */
const linesOf = (parts: readonly TextDifference[]): readonly (readonly TextDifference[])[] => {
  const lines: TextDifference[][] = [[]];
  for (const { kind, text } of parts)
    text.split('\n').forEach((piece, i) => {
      if (i > 0) {
        const ended = lines.at(-1);
        if (kind !== 'same' && ended?.length === 0) ended.push({ kind, text: '' });
        lines.push([]);
      }
      if (piece !== '') lines.at(-1)?.push({ kind, text: piece });
    });
  // A text that ends with its last line has no empty one behind it.
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines;
};

const shortened = (line: readonly TextDifference[]): readonly TextDifference[] =>
  line.map(({ kind, text }, i) => {
    if (kind !== 'same' || text.length <= 2 * AROUND_IN_LINE) return { kind, text };
    const before = i === 0 && line.length > 1 ? '' : text.slice(0, AROUND_IN_LINE);
    const behind = i === line.length - 1 ? '' : text.slice(-AROUND_IN_LINE);
    return { kind, text: `${before}…${behind}` };
  });
