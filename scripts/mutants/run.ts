import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JOB_ENV, type Job, type JobMutant } from './job.ts';
import { note, progressOf, readJournal, type Progress } from './journal.ts';

type RunInput = {
  readonly out: string;
  readonly journal: string;
  readonly seed: number;
  readonly verbose: boolean;
  readonly mutants: readonly JobMutant[];
  /** Called after each process of vitest. */
  readonly report: () => unknown;
};

/** Tries mutants in one test file after another, in processes that a mutant may bring to an end. */
export const openRun = ({ out, journal, seed, verbose, mutants, report }: RunInput) => {
  const jobFile = join(out, 'job.json');
  const progress = (): Progress => progressOf(readJournal(journal));

  const runVitest = (job: Job, files: readonly string[]): Promise<void> => {
    writeFileSync(jobFile, JSON.stringify(job));
    const child = spawn(process.execPath, [join(import.meta.dirname, 'run-vitest.ts'), ...files], {
      stdio: ['ignore', verbose ? 'inherit' : 'ignore', verbose ? 'inherit' : 'ignore'],
      env: { ...process.env, [JOB_ENV]: jobFile, STEMMA_SEED: String(seed) },
    });
    return new Promise((resolve) => {
      child.once('close', () => {
        report();
        resolve();
      });
    });
  };

  const tryInTurn = async (files: readonly string[]): Promise<void> => {
    const inTurn = mutants.filter(({ isStatic }) => !isStatic);
    for (let stuck = 0; ;) {
      const { done, noticed } = progress();
      const open = inTurn.filter(({ number }) => !noticed.has(number));
      const left = files.filter((file) => !done.has(file) && open.some((mutant) => isJudgedBy(mutant, file)));
      const before = readJournal(journal).length;
      if (left.length === 0) return;
      await runVitest({ mutants, journal, fresh: null }, left);
      const last = readJournal(journal).slice(before).at(-1);
      stuck = last === undefined || last.what === 'baseline' ? stuck + 1 : 0;
      if (stuck < 2) continue;
      // A file that ends its process without any mutant cannot be used.
      const file = last?.file ?? left[0] ?? '';
      process.stdout.write(`left out: ${file}\n`);
      note(journal, { what: 'done', file });
      stuck = 0;
    }
  };

  /** What is computed while modules are loaded: a process for each mutant, with the package's own tests alone. */
  const tryFresh = async (files: readonly string[]): Promise<void> => {
    for (const mutant of mutants.filter(({ isStatic }) => isStatic)) {
      const { tried } = progress();
      const folder = mutant.file.split('/').slice(0, 3).join('/');
      const left = files.filter(
        (file) => file.startsWith(`${folder}/`) && !tried.has(`${file} ${mutant.number}`),
      );
      for (let i = 0; i < left.length && !progress().noticed.has(mutant.number); i += AT_ONCE)
        await runVitest({ mutants: [mutant], journal, fresh: mutant.number }, left.slice(i, i + AT_ONCE));
    }
  };

  return {
    /** Tries what no test has noticed yet in these test files. */
    tier: async (files: readonly string[]): Promise<void> => {
      await tryInTurn(files);
      await tryFresh(files);
    },
  };
};

/** Test files for one mutant in one process: it ends after the one that notices it. */
const AT_ONCE = 12;

const isJudgedBy = ({ only }: JobMutant, file: string): boolean => only === null || file.startsWith(only);
