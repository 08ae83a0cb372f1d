import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TIERS } from './test-tiers.ts';

/**
 * The files that take longest, by part of their path: they begin first, so that all workers are busy to the end. Seconds
 * on two cores; which are named, and in which order, is all that matters.
 */
const SECONDS: readonly (readonly [string, number])[] = [];

const secondsOf = (file: string): number => SECONDS.find(([part]) => file.includes(part))?.[1] ?? 0;
const tierOf = (file: string): number => TIERS.findIndex((tier) => basename(file).includes(`.${tier}.`));

/** Runs the slowest files first, then those of `e2e`, `int` and `unit`. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted(
      ({ moduleId: a }, { moduleId: b }) => secondsOf(b) - secondsOf(a) || tierOf(a) - tierOf(b) || (a < b ? -1 : 1),
    );
  }
}
