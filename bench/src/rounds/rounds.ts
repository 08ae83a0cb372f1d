import { mkdirSync } from 'node:fs';
import { probe } from '../probe.ts';
import { figure, times, type BenchmarkOptions, type Report } from '../table.ts';
import type { MeasuredRounds, RoundsInput } from './run-rounds.ts';

/** A number with all its digits. */
const whole = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** Rounds of a pool with the built-in mind, and whether they take longer the more messages there are. */
export const rounds = async ({ directory, quick }: BenchmarkOptions): Promise<Report> => {
  mkdirSync(directory, { recursive: true });
  const [all, part] = quick ? [100, 50] : [10_000, 1_000];
  const {
    value: { parts },
  } = await probe<{ parts: MeasuredRounds[] }>('rounds/run', {
    ...{ directory, rounds: all, part },
  } satisfies RoundsInput);
  const half = Math.floor(parts.length / 2);
  const spent = (some: readonly MeasuredRounds[]): number =>
    some.reduce((sum, { cpu }) => sum + cpu, 0) / some.length;
  const grown = spent(parts.slice(-half)) / spent(parts.slice(0, half));
  const seconds = parts.reduce((sum, one) => sum + one.seconds, 0);
  return {
    name: 'rounds',
    tables: [
      {
        title: `${figure(all)} rounds of a pool with the built-in mind`,
        columns: ['rounds', 'messages then', 'rounds/s', 'ms of processors a round'],
        rows: [
          ...parts.map((one, i) => [
            `${whole(i * part + 1)} to ${whole((i + 1) * part)}`,
            whole(one.messages),
            figure(part / one.seconds),
            figure(one.cpu / part),
          ]),
          ['all', whole(parts.at(-1)?.messages ?? 0), figure(all / seconds), ''],
        ],
        notes: [
          'Five messages of the newest 100 are shown in each round. A round waits for its frames to be on disk, one after another.',
        ],
      },
    ],
    aims: [
      {
        what: 'time of processors a round: the second half against the first',
        aim: '≤ 1.2 ×',
        measured: times(grown),
        met: grown <= 1.2,
      },
    ],
    figures: { parts },
  };
};
