/** One run of all tests, counted. */
export type Tally = {
  readonly passed: number;
  readonly failed: number;
  /** One line for each skipped test: its full name and why it was skipped. */
  readonly skipped: readonly string[];
  /** One line for each test that failed at first and then passed: its full name and what the first failure said. */
  readonly secondTry: readonly string[];
};

/** What happened to one test file, as far as it is counted here. */
export type FileOutcome = {
  readonly file: string;
  /** Whether the file itself failed: it could not be loaded, or a hook of it failed. */
  readonly broken: boolean;
  readonly tests: readonly {
    readonly name: string;
    readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
    readonly note?: string | undefined;
    /** What its first try failed with, if it passed at a later one. */
    readonly atFirst?: string | undefined;
  }[];
};

/**
 * Counts tests. A broken file without a failed test counts as one failure, so does every error outside of tests,
 * and so does a test that was never finished.
 */
export function tally(files: readonly FileOutcome[], errorsOutsideTests: number): Tally {
  let passed = 0;
  let failed = errorsOutsideTests;
  const skipped: string[] = [];
  const secondTry: string[] = [];
  for (const { file, broken, tests } of files) {
    const failures = tests.filter(({ state }) => state === 'failed' || state === 'pending').length;
    failed += broken && failures === 0 ? 1 : failures;
    passed += tests.filter(({ state }) => state === 'passed').length;
    for (const { name, state, note, atFirst } of tests) {
      if (state === 'passed' && atFirst !== undefined) secondTry.push(`${file} > ${name}: ${atFirst}`);
      if (state === 'skipped') skipped.push(`${file} > ${name}: ${note ?? 'no reason given'}`);
    }
  }
  return { passed, failed, skipped, secondTry };
}
