import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TIERS } from './test-tiers.ts';

/**
 * The files that take longest, by the end of their path without `.test.ts`, the slowest first. They begin before all
 * others, so that no worker is left alone with one of them at the end.
 */
export const SLOWEST: readonly string[] = [
  'log-kafka/test/faults.drill.e2e',
  'cli/test/apart/faults.drill.e2e',
  'cli/test/apart/gateways.drill.e2e',
  'cli/test/apart/same-apart.drill.e2e',
  'inspector/test/branches-page.long.e2e',
  'log-kafka/test/publisher.drill.e2e',
  'relay/test/broker-killed.drill.e2e',
  'projector/test/shared-partitions.drill.e2e',
  'postgres/test/connections.long.e2e',
  'log-kafka/test/broken-disk.drill.e2e',
  'packages/engine/projector/test/kill.drill.e2e',
  'inspector/test/page.e2e',
  'gateway/test/hostile.drill.e2e',
  'cli/test/kafka.int',
  'cli/test/hostile-text.int',
  'cli/test/hostile-input.int',
  'gateway/test/recorder.int',
  'home/test/home.int',
  'operations/test/recovery.int',
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
