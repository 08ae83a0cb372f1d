import { join } from 'node:path';
import { besideLoad } from '../load.ts';
import { medianIfAny } from '../measure.ts';
import { probePeer } from '../peers/probe-peer.ts';
import { probe } from '../probe.ts';
import { figure, times, type Aim, type BenchmarkOptions, type Report, type Table } from '../table.ts';
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
  /** The same right after each of them, beside a process that takes one processor. */
  readonly loaded: readonly Appending[];
};

const appendOnce = async (target: AppendTarget, input: AppendInput): Promise<readonly Appending[]> => {
  const found =
    target === 'append/emmett'
      ? await probePeer<Appending>('emmett + SQLite', target, input)
      : [await probe<Appending>(target, input)];
  return found.map(({ value }) => value);
};

const measureGroup = async (
  group: number,
  { directory, quick, rounds }: BenchmarkOptions,
): Promise<readonly Measured[]> => {
  const found = ways.map(({ name }) => ({
    ...{ target: name, group },
    ...{ rounds: [] as Appending[], loaded: [] as Appending[] },
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { target, rounds: taken, loaded } of found) {
      const input: AppendInput = {
        directory: join(directory, `${target.replace('/', '-')}-${group}-${round}`),
        group,
        seconds: quick ? 0.2 : 2,
      };
      taken.push(...(await appendOnce(target, input)));
      const beside = { ...input, directory: `${input.directory}-loaded` };
      loaded.push(...(await besideLoad(() => appendOnce(target, beside))));
    }
  }
  return found;
};

/** The median over the rounds of what is taken from each. */
const over = (measured: Measured, of: (round: Appending) => number): number =>
  medianIfAny(measured.rounds.map(of));

const row = (measured: Measured, limit: Measured): readonly string[] => {
  const share = medianIfAny(
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
    figure(medianIfAny(measured.loaded.map((round) => round.eventsPerSecond))),
    figure(medianIfAny(measured.loaded.map((round) => round.append.median))),
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
    columns: [
      ...['', 'events at once', 'of the limit', 'events/s', 'ms, median', 'ms, p99'],
      ...['beside a load: events/s', 'ms, median'],
    ],
    rows: ways.flatMap(({ name }) =>
      measured.filter(({ target }) => target === name).map((one) => row(one, limit(one.group))),
    ),
    notes: [
      `${measured[0]!.rounds.length} rounds of the whole table, the ways one after another in each; medians of the rounds.`,
      'Beside a load: right afterwards, while another process takes one processor all the time.',
      'ms: one durable append of the whole group. Every way has appended for as long before it is measured.',
    ],
  };
  return { name: 'append', tables: [table], aims: groups.flatMap(aimsOf(measured)), figures: { measured } };
};

/** Groups against those of emmett, on a calm machine and on a busy one: round by round, as both were measured one after the other. */
const aimsOf =
  (measured: readonly Measured[]) =>
  (group: number): readonly Aim[] => {
    const of = (name: AppendTarget): Measured =>
      measured.find((one) => one.target === name && one.group === group)!;
    const [own, peer] = [of('append/home'), of('append/emmett')];
    const aim = (what: string, which: 'rounds' | 'loaded'): Aim => {
      const rate = (one: Measured): number => medianIfAny(one[which].map((round) => round.eventsPerSecond));
      const ratio = rate(own) / rate(peer);
      return { what, aim: '≥ 1 ×', measured: times(ratio), met: ratio >= 1 };
    };
    const title = `a command of ${figure(group)} against emmett`;
    return [aim(title, 'rounds'), aim(`${title}, beside a load of one processor`, 'loaded')];
  };
