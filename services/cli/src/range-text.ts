import { toWireJson } from '@stemma/api';
import type { ContentDiff, RangeChange, RangeDiff, RangeResult } from '@stemma/selectors';
import { withExcerpt, type WordsOfNode } from './excerpts.ts';
import { oneLine, printable } from './output.ts';

/** What a range came to, after its pairs. */
export const summaryText = ({ snapshots, diffs, limits }: RangeResult): string => {
  const same = diffs.filter(({ stats }) => stats.added + stats.removed + stats.changed === 0).length;
  return `${many(snapshots.length, 'snapshot')}, ${many(diffs.length, 'pair')} compared, ${same} of them equal${limits?.truncated === true ? ', some changes not listed' : ''}\n`;
};

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const lengthOf = ({ added_ids, removed_ids, changed }: RangeDiff): number =>
  added_ids.length + removed_ids.length + changed.length;

/** A pair of snapshots that differ, for people: a paragraph in the direction of time, each node with its words. */
export const pairText = (
  diff: RangeDiff,
  cycles: ReadonlyMap<string, number>,
  words: WordsOfNode,
  width: number,
): string => {
  const { from, to, stats, added_ids, removed_ids, changed } = diff;
  const name = (label: string): string =>
    label.startsWith('@c') ? label : `${label} (@c${cycles.get(label) ?? '?'})`;
  const more = stats.added + stats.removed + stats.changed - lengthOf(diff);
  const line = (sign: string, id: string, what = ''): string =>
    `${withExcerpt(`  ${sign} ${printable(id)}${what}`, id, words, width)}\n`;
  return [
    `${name(to)} → ${name(from)}  +${stats.added} −${stats.removed} ~${stats.changed}\n`,
    ...added_ids.map((id) => line('+', id)),
    ...removed_ids.map((id) => line('-', id)),
    ...changed.map(
      (change) =>
        line('~', change.id, `  (${valuesText(change)})`) +
        (change.content_diff === undefined ? '' : contentText(change.content_diff)),
    ),
    ...(more > 0 ? [`  … ${more} more\n`] : []),
    '\n',
  ].join('');
};

const valuesText = ({ fields, delta }: RangeChange): string =>
  fields
    .map((field) => {
      const value = delta[field];
      return field === 'content_hash' || value === undefined
        ? field
        : `${field} ${oneLine(toWireJson(value.to), 40)} → ${oneLine(toWireJson(value.from), 40)}`;
    })
    .join(', ');

const contentText = ({ summary, diff, patch, hunks }: ContentDiff): string => {
  if (summary.truncated)
    return `      (${summary.bytesOlder} → ${summary.bytesNewer} bytes: too large to compare)\n`;
  if (summary.identical) return '      (equal content, other attributes)\n';
  const lines =
    diff !== undefined
      ? diff.replace(/\n$/, '').split('\n')
      : patch !== undefined
        ? patch.map((operation) => toWireJson(operation))
        : (hunks ?? [])
            .filter(({ op }) => op !== 'equal')
            .map(({ op, text }) => `${op === 'insert' ? '+' : '-'} ${toWireJson(text)}`);
  return lines.map((line) => `      ${printable(line)}\n`).join('');
};
