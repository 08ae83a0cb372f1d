import { TestRunner } from 'vitest';
import { currentTestRun } from './test-runs.ts';

type Task = Parameters<TestRunner['onBeforeRunTask']>[0];
type Suite = Parameters<TestRunner['onAfterRunSuite']>[0];

const nameOf = (task: { readonly name: string; readonly suite?: unknown }): string => {
  const names = [task.name];
  for (
    let at = task.suite as typeof task | undefined;
    at !== undefined;
    at = at.suite as typeof task | undefined
  )
    names.unshift(at.name);
  return names.join(' > ');
};

/** Runs only the tests that a run asks for, and stops at the first failure where it says so. A class: vitest asks for one. */
export default class extends TestRunner {
  onCollected(files: readonly Suite[]): void {
    // A file that cannot be loaded has no tests.
    for (const file of files) if (file.result?.state === 'fail') currentTestRun()?.failed.push(nameOf(file));
  }

  override async onBeforeRunTask(test: Task): Promise<void> {
    const run = currentTestRun();
    const unwanted = run?.only?.has(nameOf(test)) === false || (run?.stops === true && run.failed.length > 0);
    if (unwanted && (test.mode === 'run' || test.mode === 'queued')) test.mode = 'skip';
    await super.onBeforeRunTask(test);
    if (test.mode === 'run' || test.mode === 'queued') run?.beforeTest(nameOf(test));
  }

  override onAfterRunTask(test: Task): void {
    super.onAfterRunTask(test);
    const run = currentTestRun();
    if (test.result?.state === 'fail') run?.failed.push(nameOf(test));
    run?.afterTest(nameOf(test));
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    await super.onAfterRunSuite(suite);
    // A hook that fails.
    if (suite.result?.errors?.length) currentTestRun()?.failed.push(nameOf(suite));
  }
}
