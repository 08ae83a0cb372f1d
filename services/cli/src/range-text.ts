import { toWireJson } from '@stemma/api';
import type { ContentDiff, RangeChange, RangeDiff, RangeResult } from '@stemma/selectors';
import { oneLine, printable } from './output.ts';

/** A range result for people: a paragraph for each pair that differs, in the direction of time. */
export const rangeText = ({ snapshots, diffs, limits }: RangeResult): string => {
  const cycles = new Map(snapshots.map(({ label, cycle }) => [label, cycle]));
  const same = diffs.filter(({ stats }) => stats.added + stats.removed + stats.changed === 0).length;
  return [
    ...diffs
      .filter((diff) => lengthOf(diff) > 0 || diff.stats.added + diff.stats.removed + diff.stats.changed > 0)
      .map((diff) => pairText(diff, cycles)),
    `${many(snapshots.length, 'snapshot')}, ${many(diffs.length, 'pair')} compared, ${same} of them equal${limits?.truncated === true ? ', some changes not listed' : ''}\n`,
  ].join('');
};

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const lengthOf = ({ added_ids, removed_ids, changed }: RangeDiff): number =>
  added_ids.length + removed_ids.length + changed.length;

const pairText = (diff: RangeDiff, cycles: ReadonlyMap<string, number>): string => {
  const { from, to, stats, added_ids, removed_ids, changed } = diff;
  const name = (label: string): string =>
    label.startsWith('@c') ? label : `${label} (@c${cycles.get(label) ?? '?'})`;
  const more = stats.added + stats.removed + stats.changed - lengthOf(diff);
  return [
    `${name(to)} → ${name(from)}  +${stats.added} −${stats.removed} ~${stats.changed}\n`,
    ...added_ids.map((id) => `  + ${printable(id)}\n`),
    ...removed_ids.map((id) => `  - ${printable(id)}\n`),
    ...changed.map(changeText),
    ...(more > 0 ? [`  … ${more} more\n`] : []),
    '\n',
  ].join('');
};

const changeText = ({ id, fields, delta, content_diff }: RangeChange): string => {
  const values = fields.map((field) => {
    const value = delta[field];
    return field === 'content_hash' || value === undefined
      ? field
      : `${field} ${oneLine(toWireJson(value.to), 40)} → ${oneLine(toWireJson(value.from), 40)}`;
  });
  return `  ~ ${printable(id)}  ${values.join(', ')}\n${content_diff === undefined ? '' : contentText(content_diff)}`;
};

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
