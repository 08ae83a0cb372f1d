import { dirname, join } from 'node:path';
import { median } from '../measure.ts';
import { probe } from '../probe.ts';
import { prepared } from '../replay/replay.ts';
import type { Replayed } from '../replay/rebuild.ts';
import { bytes, figure, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import type { Asked } from './ask-why.ts';

/** What the read model `diffs` costs in a fold, and how long its questions take. */
export const causes = async (options: BenchmarkOptions): Promise<Report> => {
  const sessions = await prepared(dirname(options.directory), options.quick ? 2_000 : 250_000);
  const folded: Record<'with' | 'without', Replayed[]> = { with: [], without: [] };
  for (let round = 0; round < options.rounds; round += 1) {
    const input = { directory: sessions.directory };
    folded.with.push((await probe<Replayed>('replay/rebuild', input)).value);
    folded.without.push((await probe<Replayed>('replay/rebuild', { ...input, without: 'diffs' })).value);
  }
  const rate = (list: readonly Replayed[]): number =>
    median(list.map(({ events, seconds }) => events / seconds));
  const size = (list: readonly Replayed[]): number => median(list.map((one) => one.bytes ?? Number.NaN));
  const asked: Asked[] = [];
  for (const cycles of options.quick ? [20, 200] : [100, 1_000, 10_000]) {
    const directory = join(options.directory, `why-${cycles}`);
    asked.push((await probe<Asked>('causes/why', { directory, cycles })).value);
  }
  const fold: Table = {
    title: 'Causes: what they cost a fold',
    columns: ['', 'events/s', 'rows on disk'],
    rows: [
      ['all read models', figure(rate(folded.with)), bytes(size(folded.with))],
      ['without `diffs`', figure(rate(folded.without)), bytes(size(folded.without))],
    ],
    notes: [
      `${figure(sessions.events)} events of ${figure(sessions.histories)} sessions; medians of ${options.rounds} rounds, one after the other.`,
    ],
  };
  const questions: Table = {
    title: 'Causes: questions',
    columns: ['cycles', 'why, ms, median', 'why, ms, p99', 'diff, ms, median', 'diff --explain, ms, median'],
    rows: asked.map(({ cycles, why, diff, explain }) => [
      figure(cycles),
      figure(why.median),
      figure(why.p99),
      figure(diff.median),
      figure(explain.median),
    ]),
    notes: [
      'why: nodes of all ages, from the working state; one in four is a node whose priority changed twenty times.',
      'diff: the last two snapshots of a window of twenty blocks, each cycle a turn more; explained, both threads are read.',
    ],
  };
  const first = asked[0]?.why.median ?? Number.NaN;
  const last = asked.at(-1)?.why.median ?? Number.NaN;
  const diffs = asked.map(({ diff }) => diff.median);
  return {
    name: 'causes',
    tables: [fold, questions],
    aims: [
      {
        what: 'why, the longest history / the shortest',
        aim: '≤ 2 (flat)',
        measured: figure(last / first),
        met: last / first <= 2,
      },
      {
        what: 'diff of neighbours that differ in 23 nodes, ms, the longest history',
        aim: '< 1',
        measured: figure(diffs.at(-1) ?? Number.NaN),
        met: (diffs.at(-1) ?? Number.NaN) < 1,
      },
    ],
    figures: { sessions, folded, asked },
  };
};
