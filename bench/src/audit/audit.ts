import { join } from 'node:path';
import { median } from '../measure.ts';
import { probe, type Probed } from '../probe.ts';
import { bytes, figure, times, type Aim, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import type { Asked } from './ask-impact.ts';
import type { Exported } from './export-interventions.ts';

type Export = Probed<Exported> & { readonly count: number };

/** What an auditor's questions cost: the export of many interventions, and the impact of one over many cycles. */
export const audit = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const exports: Export[] = [];
  for (const count of quick ? [100, 5_000] : [1_000, 100_000, 1_000_000]) {
    const input = { directory: join(directory, `export-${count}`), count };
    await probe('audit/write', input);
    exports.push({ count, ...(await probe<Exported>('audit/export', input)) });
  }
  const asked: Asked[][] = [];
  for (const cycles of quick ? [200] : [1_000, 10_000]) {
    const input = { directory: join(directory, `impact-${cycles}`), cycles };
    await probe('audit/record', input);
    const each: Asked[] = [];
    for (let round = 0; round < rounds; round++) each.push((await probe<Asked>('audit/impact', input)).value);
    asked.push(each);
  }
  return {
    name: 'audit',
    tables: [exportTable(exports), impactTable(asked, rounds)],
    aims: quick ? [] : aimsOf(exports, asked),
    figures: { exports, asked },
  };
};

const exportTable = (exports: readonly Export[]): Table => ({
  title: 'Audit: export of interventions',
  columns: ['interventions', 'file', 'peak of its own', 'peak with mapped rows', 'CPU, s', 'CPU µs each'],
  rows: exports.map(({ count, value, own, peak }) => [
    figure(count),
    bytes(value.bytes),
    own === null ? '–' : bytes(own),
    bytes(peak),
    figure(value.cpuSeconds),
    figure((value.cpuSeconds / count) * 1e6),
  ]),
  notes: [
    'As JSON lines to a file, by a process that does nothing else. Each is a note to the one before it, told with the note that came to it.',
    'Peak: the most resident memory. Of its own: without pages of mapped files, which the system takes back when it needs them.',
  ],
});

const impactTable = (asked: readonly (readonly Asked[])[], rounds: number): Table => ({
  title: 'Audit: the impact of one injection',
  columns: [
    'cycles behind it',
    'first, CPU ms',
    'first, ms',
    'again, CPU ms',
    'again, ms',
    'calls',
    'blocks',
  ],
  rows: asked.map((each) => [
    figure(each[0]?.cycles ?? 0),
    figure(median(each.map(({ cold }) => cold.cpu))),
    figure(median(each.map(({ cold }) => cold.wall))),
    figure(median(each.flatMap(({ warm }) => warm.map(({ cpu }) => cpu)))),
    figure(median(each.flatMap(({ warm }) => warm.map(({ wall }) => wall)))),
    figure(each[0]?.calls ?? 0),
    figure(each[0]?.blocks ?? 0),
  ]),
  notes: [
    `Medians of ${rounds} processes; again: of 15 times in each. Three messages a cycle; the hint stays, so that every call is shown it.`,
    'CPU is that of all threads: the collection of garbage and the compiler of the engine are in it.',
  ],
});

const aimsOf = (exports: readonly Export[], asked: readonly (readonly Asked[])[]): readonly Aim[] => {
  const [last, before] = [exports.at(-1)?.own ?? NaN, exports.at(-2)?.own ?? NaN];
  const warm = median((asked.at(-1) ?? []).flatMap((each) => each.warm.map(({ cpu }) => cpu)));
  return [
    {
      what: 'memory of an export, 1,000,000 / 100,000 interventions',
      aim: '≤ 1.25 × (flat)',
      measured: times(last / before),
      met: last / before <= 1.25,
    },
    {
      what: 'impact of one injection over 10,000 cycles, CPU, again',
      aim: '100 ms',
      measured: `${figure(warm)} ms`,
      met: warm <= 100,
    },
  ];
};
