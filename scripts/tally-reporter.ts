import { writeFileSync } from 'node:fs';
import { type Reporter, type TestCase } from 'vitest/node';
import { LONG } from './test-tiers.ts';
import { tally } from './tally.ts';

/**
 * Writes the tally of a run to the file named by `STEMMA_TALLY`.
 * Vitest's own JSON report leaves out why a test was skipped and what failed outside of tests.
 */
export default class TallyReporter implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (modules, unhandledErrors) => {
    const target = process.env['STEMMA_TALLY'];
    if (target === undefined) throw new Error('STEMMA_TALLY must name the file to write the tally to');
    const files = modules.map((module) => ({
      file: module.relativeModuleId,
      broken: module.state() === 'failed',
      tests: [...module.children.allTests()].map(outcome),
    }));
    writeFileSync(target, JSON.stringify(tally(files, unhandledErrors.length)));
  };
}

function outcome(test: TestCase) {
  const result = test.result();
  return {
    name: test.fullName,
    state: result.state,
    note: result.state === 'skipped' ? (result.note ?? noteOf(test)) : undefined,
    atFirst: test.diagnostic()?.flaky === true ? firstLine(result.errors?.[0]?.message) : undefined,
  };
}

/** A test that only the long stage runs says so by its tag. */
function noteOf({ tags }: TestCase): string | undefined {
  return tags.includes(LONG) ? 'left to the long stage: STEMMA_LONG=1' : undefined;
}

function firstLine(message = 'no message'): string {
  return message.split('\n', 1)[0] ?? message;
}
