import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../measure.ts';
import { probe } from '../probe.ts';
import { figure, times, type BenchmarkOptions, type Report } from '../table.ts';
import { AT_ONCE, type HistoriesInput, type HistoriesMeasured } from './submit.ts';

/** The same number of turns, in few histories, in many, and in more than a writer keeps in memory while rows are behind. */
const FEW = 10;
const MANY = 1_000;
const sizes = [FEW, MANY, 10_000];

/** Whether many active histories are slower than few, and what lists of a thousand take. */
export const histories = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const [turns, commands] = quick ? [10_000, 2_000] : [50_000, 20_000];
  const measured = new Map<number, HistoriesMeasured[]>(sizes.map((size) => [size, []]));
  for (let round = 0; round < rounds; round++)
    for (const [size, taken] of measured) {
      const where = join(directory, `${size}-${round}`);
      const input: HistoriesInput = { directory: where, histories: size, turns: turns / size, commands };
      taken.push((await probe<HistoriesMeasured>('histories/submit', input)).value);
      rmSync(where, { recursive: true, force: true });
    }
  const over = (size: number, of: (one: HistoriesMeasured) => number): number =>
    median(measured.get(size)!.map(of));
  const rate = (size: number): number => over(size, ({ perSecond }) => perSecond);
  const share = rate(MANY) / rate(FEW);
  const snapshots = over(MANY, ({ listed }) => listed!.snapshots);
  return {
    name: 'histories',
    tables: [
      {
        title: `Many active histories: ${AT_ONCE} commands at once`,
        columns: ['histories', 'turns before', 'commands/s', 'of few', 'ms of CPU a command'],
        rows: sizes.map((size) => [
          figure(size),
          figure(turns / size),
          figure(rate(size)),
          times(rate(size) / rate(FEW)),
          figure(over(size, ({ cpu }) => cpu)),
        ]),
        notes: [
          `A command inserts two messages of 400 characters and commits; ${figure(commands)} of them, each to the history that waited longest. ${rounds} rounds, medians.`,
          'CPU: of the whole process, what it folds meanwhile too.',
        ],
      },
      {
        title: 'Lists of 1,000, warm',
        columns: ['', 'ms'],
        rows: [
          ['snapshots of a branch', figure(snapshots)],
          ['histories, of 1,001', figure(over(MANY, ({ listed }) => listed!.histories))],
          ['histories, of 10,001', figure(over(10_000, ({ listed }) => listed!.histories))],
        ],
        notes: [
          'Through a home, as objects. A list of histories has their branches, and reads all names and times.',
        ],
      },
    ],
    aims: [
      {
        what: `${figure(MANY)} active histories against ${FEW}`,
        aim: '≥ 0.8 ×',
        measured: times(share),
        met: share >= 0.8,
      },
      {
        what: 'list of 1,000 snapshots',
        aim: '≤ 10 ms',
        measured: `${figure(snapshots)} ms`,
        met: snapshots <= 10,
      },
    ],
    figures: { measured: Object.fromEntries(measured) },
  };
};
