/** What one run of a test file is to do, and what came of it. Shared by the worker and the runner of the tests. */
export type TestRun = {
  /** The names of the tests to run; null: all. */
  readonly only: ReadonlySet<string> | null;
  /** True: the first failure ends the run. */
  readonly stops: boolean;
  readonly beforeTest: (name: string) => void;
  readonly afterTest: (name: string) => void;
  readonly failed: string[];
};

const GLOBAL = '__stemmaTestRun';

/** The runner is made by vitest, which gives it nothing of ours: so the run stands in a global. */
export const setTestRun = (run: TestRun): void => {
  Object.assign(globalThis, { [GLOBAL]: run });
};

export const currentTestRun = (): TestRun | undefined =>
  (globalThis as unknown as Record<string, TestRun | undefined>)[GLOBAL];
