import { join } from 'node:path';
import { median } from '../measure.ts';
import { probe } from '../probe.ts';
import { figure, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import type { Appending, AppendInput } from './figures.ts';

const groups = [1, 100, 1_000] as const;

/** What appends, the limit first: every other is measured right after it in the same round. */
const ways = [
  { name: 'append/file', title: 'file system: write + fdatasync, preallocated' },
  { name: 'append/log', title: 'Stemma, embedded log: records of one event, appended together' },
  { name: 'append/home', title: 'Stemma, whole: one command, decided and recorded; its rows follow' },
  { name: 'append/emmett', title: 'emmett + SQLite: one appendToStream' },
] as const;
type AppendTarget = (typeof ways)[number]['name'];

type Measured = {
  readonly target: AppendTarget;
  readonly group: number;
  readonly rounds: readonly Appending[];
};

const measureGroup = async (
  group: number,
  { directory, quick, rounds }: BenchmarkOptions,
): Promise<readonly Measured[]> => {
  const found = ways.map(({ name }) => ({ target: name, group, rounds: [] as Appending[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { target, rounds: taken } of found) {
      const input: AppendInput = {
        directory: join(directory, `${target.replace('/', '-')}-${group}-${round}`),
        group,
        seconds: quick ? 0.2 : 2,
      };
      taken.push((await probe<Appending>(target, input)).value);
    }
  }
  return found;
};

/** The median over the rounds of what is taken from each. */
const over = (measured: Measured, of: (round: Appending) => number): number =>
  median(measured.rounds.map(of));

const row = (measured: Measured, limit: Measured): readonly string[] => {
  const share = median(
    measured.rounds.map(
      (round, index) => (100 * round.eventsPerSecond) / limit.rounds[index]!.eventsPerSecond,
    ),
  );
  return [
    ways.find(({ name }) => name === measured.target)!.title,
    figure(measured.group),
    `${figure(share)} %`,
    figure(over(measured, (round) => round.eventsPerSecond)),
    figure(over(measured, (round) => round.append.median)),
    figure(over(measured, (round) => round.append.p99)),
  ];
};

/** Durable events a second, singly and in groups, against what the file system allows. */
export const append = async (options: BenchmarkOptions): Promise<Report> => {
  const measured: Measured[] = [];
  for (const group of groups) measured.push(...(await measureGroup(group, options)));
  const limit = (group: number): Measured =>
    measured.find((one) => one.target === 'append/file' && one.group === group)!;
  const table: Table = {
    title: 'Append: durable events of about 480 bytes',
    columns: ['', 'events at once', 'of the limit', 'events/s', 'ms, median', 'ms, p99'],
    rows: ways.flatMap(({ name }) =>
      measured.filter(({ target }) => target === name).map((one) => row(one, limit(one.group))),
    ),
    notes: [
      `${measured[0]!.rounds.length} rounds of the whole table, the ways one after another in each; medians of the rounds.`,
      'ms: one durable append of the whole group. Every way has appended for as long before it is measured.',
    ],
  };
  return { name: 'append', tables: [table], aims: [], figures: { measured } };
};
