import { median } from '../measure.ts';
import { probe } from '../probe.ts';
import { figure, times, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import type { StagesFigures, StagesInput } from './compile.ts';
import type { FoldFigures, FoldInput } from './fold.ts';

const PROFILES = ['stemma-1', 'breadboard-0.1'] as const;

type Row = StagesInput & { readonly rounds: readonly StagesFigures[] };

/** Compiler stages: what a node costs once, what compiling costs, and what the read model takes for a cycle. */
export const stages = async ({ quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const sizes = quick ? [100] : [100, 1_000, 10_000];
  const rows: Row[] = [];
  for (const profile of PROFILES)
    for (const nodes of sizes) {
      const input: StagesInput = { profile, nodes, repetitions: quick ? 3 : 15 };
      const taken: StagesFigures[] = [];
      for (let round = 0; round < rounds; round += 1)
        taken.push((await probe<StagesFigures>('stages/compile', input)).value);
      rows.push({ ...input, rounds: taken });
    }
  const folded: FoldFigures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const input: FoldInput = { nodes: sizes, repetitions: quick ? 3 : 25 };
    folded.push((await probe<FoldFigures>('stages/fold', input)).value);
  }
  const slowest = median(folded.map((round) => round.at(-1)?.commit ?? Number.NaN));
  return {
    name: 'stages',
    tables: [table(rows), foldTable(folded)],
    aims: [
      {
        what: `the fold of a cycle after ${figure(sizes.at(-1) ?? 0)} nodes, with all hashes`,
        aim: 'under 10 ms',
        measured: `${figure(slowest)} ms`,
        met: slowest < 10,
      },
    ],
    figures: { rows, folded },
  };
};

const of = ({ rounds }: Row, name: keyof StagesFigures): number => median(rounds.map((each) => each[name]));

const foldTable = (rounds: readonly FoldFigures[]): Table => ({
  title: 'Stages: what the read model takes for a cycle of a history',
  columns: ['nodes', 'fold of a cycle, ms of CPU', 'all cycles so far, ms of CPU'],
  rows: (rounds[0] ?? []).map(({ nodes }, i) => [
    figure(nodes),
    figure(median(rounds.map((round) => round[i]?.commit ?? Number.NaN))),
    figure(median(rounds.map((round) => round[i]?.together ?? Number.NaN))),
  ]),
  notes: [
    'A cycle: two messages of about 600 characters, the expiry of two, and the commit. Projected, hashed, with all hashes of the stages, and staged as rows.',
  ],
});

const table = (rows: readonly Row[]): Table => ({
  title: 'Stages: nodes with payloads of about 600 characters',
  columns: [
    'profile',
    'nodes',
    'describe, against hashing alone',
    'describe, µs/node',
    'full compile, ms',
    'tree, ms',
  ],
  rows: rows.map((row) => [
    row.profile,
    figure(row.nodes),
    times(of(row, 'describe') / of(row, 'hashOnly')),
    figure((of(row, 'describe') * 1000) / row.nodes),
    figure(of(row, 'compile')),
    figure(of(row, 'tree')),
  ]),
  notes: [
    'Describing is done once a node: canonical JSON, digest, hashes of payload, content and tool calls. Hashing alone is one hash of the same payload.',
    'Full compile and tree begin with described nodes.',
  ],
});
