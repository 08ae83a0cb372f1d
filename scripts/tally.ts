/** What `vitest --reporter=json` writes, as far as it is counted here. */
export type VitestReport = {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly meta?: { readonly skipReason?: string };
    }[];
  }[];
};

export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: readonly string[] };

/**
 * Counts tests, and as one failure each: a file that could not be loaded, and a run that failed although
 * every test in it passed (an error outside of any test). A skipped test is a line with its name and reason.
 */
export function tally(report: VitestReport | undefined, exitCode: number): Tally {
  let passed = 0;
  let failed = 0;
  const skipped: string[] = [];
  for (const file of report?.testResults ?? []) {
    const failedBefore = failed;
    for (const test of file.assertionResults) {
      if (test.status === 'passed') passed += 1;
      else if (test.status === 'failed') failed += 1;
      else skipped.push(`${test.fullName}: ${test.meta?.skipReason ?? 'no reason given'}`);
    }
    if (file.status === 'failed' && failed === failedBefore) failed += 1;
  }
  if (exitCode !== 0 && failed === 0) failed = 1;
  return { passed, failed, skipped };
}
