import { rmSync } from 'node:fs';
import { probe } from '../probe.ts';
import { figure, type BenchmarkOptions, type Report } from '../table.ts';
import type { ChecksFigures, ChecksInput } from './measure-checks.ts';

const LIMIT = 1.15;

/** What the checks of rows add to reading them. */
export const checks = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const nodes = quick ? 64 : 1_024;
  const input: ChecksInput = { directory, nodes, times: quick ? 3 : 10 * rounds };
  const { value: figures } = await probe<ChecksFigures>('checks/measure', input);
  rmSync(directory, { recursive: true, force: true });
  const rows = Object.entries(figures).map(([question, { whole, checks: part }]) => ({
    question,
    whole,
    part,
    ratio: whole / (whole - part),
  }));
  return {
    name: 'checks',
    tables: [
      {
        title: `Checks of rows: a history of ${figure(nodes)} nodes`,
        columns: ['ms of CPU, median', 'with checks', 'checks alone', 'times as long'],
        rows: rows.map(({ question, whole, part, ratio }) => [
          question,
          figure(whole),
          figure(part),
          figure(ratio),
        ]),
        notes: [
          `${input.times} times each. get: every row of \`versions\`, one by one; range: the same at once; scan: all rows of all tables.`,
          'Rows of `versions` stand together in values of up to a page, which is what is checked. list, page: rows that are compared with their count; of one, 50 and 128 rows.',
          'view: the newest snapshot with its contents; first: in rows and a log that were just opened, so nothing is cached.',
          'load and commit: a branch is loaded and its hashes are computed; with checks, they are compared with the recorded ones first.',
        ],
      },
    ],
    aims: rows.map(({ question, ratio }) => ({
      what: question,
      aim: `at most ${LIMIT} times`,
      measured: `${figure(ratio)} ×`,
      met: ratio <= LIMIT,
    })),
    figures,
  };
};
