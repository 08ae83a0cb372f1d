import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../measure.ts';
import { probe } from '../probe.ts';
import { figure, type BenchmarkOptions, type Report } from '../table.ts';
import type { BranchFigures, BranchInput } from './branch.ts';

type Row = { readonly blocks: number; readonly rounds: readonly BranchFigures[] };

const ACTS = [
  ['fork, newest', 'forkNewest'],
  ['fork, old', 'forkOld'],
  ['rollback, newest', 'rollbackNewest'],
  ['rollback, old', 'rollbackOld'],
  ['first write to a fork', 'firstWrite'],
] as const;

/** Forks and rollbacks, which are to cost the same however large the tree is. */
export const branches = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const sizes = quick ? [10, 1_000] : [10, 1_000, 100_000];
  const rows: Row[] = [];
  for (const blocks of sizes) {
    const taken: BranchFigures[] = [];
    for (let round = 0; round < rounds; round++) {
      const at = join(directory, `${blocks}-${round}`);
      const input: BranchInput = { directory: at, blocks, repetitions: quick ? 5 : 50 };
      taken.push((await probe<BranchFigures>('branches/branch', input)).value);
      rmSync(at, { recursive: true, force: true });
    }
    rows.push({ blocks, rounds: taken });
  }
  const of = (row: Row, act: keyof BranchFigures, what: 'durable' | 'read' | 'cpu'): number =>
    median(row.rounds.map((round) => round[act][what]));
  const measuredBranches = ACTS.slice(0, 4).map(([, act]) => act);
  const slowest = Math.max(...rows.flatMap((row) => measuredBranches.map((act) => of(row, act, 'durable'))));
  const grown = (row: Row | undefined): number =>
    row === undefined ? Number.NaN : Math.max(...measuredBranches.map((act) => of(row, act, 'cpu')));
  const ratio = grown(rows.at(-1)) / grown(rows[0]);
  return {
    name: 'branches',
    tables: [
      {
        title: 'Branches: forks and rollbacks behind trees of all sizes',
        columns: ['act', 'blocks', 'until durable, ms', 'until it is read, ms', 'CPU for both, ms'],
        rows: ACTS.flatMap(([title, act]) =>
          rows.map((row) => [
            title,
            figure(row.blocks),
            figure(of(row, act, 'durable')),
            figure(of(row, act, 'read')),
            figure(of(row, act, 'cpu')),
          ]),
        ),
        notes: [
          'All blocks are alive, 100 a cycle (10 blocks: 3). Old: a third of the way. Durable: written and synced; read: the new branch’s position was asked for.',
          'The first command on a fork takes its tree in, and so grows with it.',
        ],
      },
    ],
    aims: [
      {
        what: `fork and rollback behind ${figure(sizes.at(-1) ?? 0)} blocks, until durable`,
        aim: 'under 5 ms',
        measured: `${figure(slowest)} ms`,
        met: slowest < 5,
      },
      {
        what: `CPU of a fork or rollback behind ${figure(sizes.at(-1) ?? 0)} blocks against 10`,
        aim: 'flat: under 2 ×',
        measured: `${figure(ratio)} ×`,
        met: ratio < 2,
      },
    ],
    figures: { rows },
  };
};
