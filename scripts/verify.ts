/**
 * Everything that can be checked on this machine: the static checks, then every test of the workspace.
 * Nothing stops at the first failure. The last line is `N passed, N failed, N skipped`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checks } from './checks.ts';
import { type VitestReport, tally } from './tally.ts';

const root = join(import.meta.dirname, '..');

const failedChecks: string[] = [];
for (const check of checks) {
  console.log(`\n── ${check}`);
  const code = await run('turbo', ['run', `//#${check}`, '--output-logs=new-only', '--no-update-notifier']);
  if (code !== 0) failedChecks.push(check);
}

console.log('\n── tests');
const scratch = mkdtempSync(join(tmpdir(), 'stemma-verify-'));
const reportFile = join(scratch, 'vitest.json');
const testsCode = await run('vitest', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${reportFile}`,
]);
const report = readReport(reportFile);
rmSync(scratch, { recursive: true, force: true });

const { passed, failed, skipped } = tally(report, testsCode);
if (skipped.length > 0) console.log(`\nSkipped:\n${skipped.map((line) => `  ${line}`).join('\n')}`);
const passedChecks = checks.length - failedChecks.length;
console.log(`\nChecks: ${String(passedChecks)} of ${String(checks.length)} good (counted below as tests).`);
if (failedChecks.length > 0) console.log(`Checks that failed: ${failedChecks.join(', ')}`);

const allFailed = failed + failedChecks.length;
console.log(
  `${String(passed + passedChecks)} passed, ${String(allFailed)} failed, ${String(skipped.length)} skipped`,
);
process.exitCode = allFailed > 0 || testsCode !== 0 ? 1 : 0;

function run(program: string, args: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
    });
    child.on('error', (error) => {
      console.error(`${program}: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => {
      resolve(code ?? 1);
    });
  });
}

/** Vitest writes no report when it cannot start; that is a failure, not an empty success. */
function readReport(file: string): VitestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  } catch {
    return undefined;
  }
}
