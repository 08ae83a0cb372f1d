import type { AnswerOf, OverviewRow, QUESTIONS } from '@stemma/api';
import { oneLine, table } from './output.ts';
import { time } from './time.ts';

type Found = AnswerOf<typeof QUESTIONS.overview>;

/** The rows of an overview as a table, and under it the calls whose tools failed. */
export const describeOverview = ({ rows, total }: Found, width: number): string => {
  if (total === 0) return 'no history matches\n';
  const has = (is: (row: OverviewRow) => boolean): boolean => rows.some(is);
  const columns: readonly (readonly [head: string, cell: (row: OverviewRow) => string, shown: boolean])[] = [
    ['HISTORY', ({ name, history }) => oneLine(name ?? history, 48), true],
    ['CALLS', ({ calls }) => String(calls), true],
    ['TOOLS', ({ called }) => String(called), true],
    ['FAILED', ({ failed }) => (failed === 0 ? '-' : String(failed)), true],
    ['ERRORS', ({ errors }) => String(errors), has(({ errors }) => errors > 0)],
    ['TOKENS', ({ tokens }) => String(tokens), true],
    ['COST', costOf, has(({ cost }) => cost !== null)],
    ['MODEL', ({ models }) => oneLine(models.join(', ') || '-', 32), has(({ models }) => models.length > 0)],
    ['ENDED', ({ ended }) => oneLine(ended ?? '-', 32), true],
    ['EXIT', endOf, has(({ end }) => end !== null)],
    [
      'LABELS',
      ({ labels }) => oneLine(labelsOf(labels), 40),
      has(({ labels }) => Object.keys(labels).length > 0),
    ],
    ['PARTS', partsOf, has(({ parts, isFirst }) => parts !== null || isFirst)],
    ['UPDATED', ({ updatedAt }) => time(updatedAt), true],
  ];
  const shown = columns.filter(([, , isShown]) => isShown);
  const failures = rows.flatMap(({ name, history, failures: all }) =>
    all.map((one) => `${oneLine(`${name ?? history} ${one.label}  ${one.name} failed`, width)}\n`),
  );
  return [
    table(
      shown.map(([head]) => head),
      rows.map((row) => shown.map(([, cell]) => cell(row))),
      width,
    ),
    ...(failures.length === 0 ? [] : ['\n', ...failures]),
    ...(rows.length < total ? [`\n${rows.length} of ${total} histories: --limit or --skip for more\n`] : []),
  ].join('');
};

/** `~`: some calls have no price. */
const costOf = ({ cost, unpriced }: OverviewRow): string =>
  cost === null ? '-' : `${unpriced > 0 ? '~' : ''}${cost.amount} ${cost.currency}`;

const endOf = ({ end }: OverviewRow): string => (end === null ? '-' : (end.signal ?? String(end.exitCode)));

const labelsOf = (labels: OverviewRow['labels']): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(' ');

const partsOf = ({ parts, isFirst }: OverviewRow): string =>
  isFirst ? 'the first' : parts === null ? '-' : oneLine(`${parts.label} ${parts.here} | ${parts.there}`, 48);
