import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TIERS } from './test-tiers.ts';

/**
 * The files that take longest, by the end of their path without `.test.ts`, the slowest first. They begin before all
 * others, so that no worker is left alone with one of them at the end.
 */
export const SLOWEST: readonly string[] = [
  'log-kafka/test/faults.e2e',
  'cli/test/apart/faults.e2e',
  'cli/test/apart/gateways.e2e',
  'cli/test/apart/same-apart.e2e',
  'inspector/test/branches-page.e2e',
  'log-kafka/test/publisher.e2e',
  'relay/test/broker-killed.e2e',
  'projector/test/shared-partitions.e2e',
  'postgres/test/connections.e2e',
  'log-kafka/test/broken-disk.e2e',
  'packages/projector/test/kill.e2e',
  'inspector/test/page.e2e',
  'gateway/test/hostile.e2e',
  'cli/test/kafka.int',
  'cli/test/hostile-text.int',
  'cli/test/hostile-input.int',
  'gateway/test/recorder.int',
  'home/test/home.int',
  'home/test/recovery.int',
  'home/test/resumed.int',
  'cli/test/bad-input.int',
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const slow = SLOWEST.findIndex((end) => moduleId.includes(`${end}.test.`));
  if (slow >= 0) return slow;
  return SLOWEST.length + TIERS.findIndex((tier) => moduleId.includes(`.${tier}.test.`));
};

/** Runs the slowest files first, then those of `e2e`, `int` and `unit`. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}
