import { readFileSync } from 'node:fs';
import type { NumberedMutant } from './schemata.ts';

/** A mutant to try. */
export type JobMutant = NumberedMutant & {
  /** It is computed while its module is loaded: a process that has loaded it without the mutant cannot try it. */
  readonly isStatic: boolean;
  /** The folder whose tests alone judge it; null: all tests. */
  readonly only: string | null;
};

/** What a process of vitest is to do. */
export type Job = {
  readonly mutants: readonly JobMutant[];
  readonly journal: string;
  /** The one mutant that is on from the start; null: each in turn. */
  readonly fresh: number | null;
};

export const JOB_ENV = 'STEMMA_MUTANTS_JOB';

export const readJob = (): Job => JSON.parse(readFileSync(process.env[JOB_ENV] ?? '', 'utf8')) as Job;
