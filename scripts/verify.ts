/**
 * Everything that can be checked on this machine: the static checks, then every test of the workspace.
 * Nothing stops at the first failure. The last line is `N passed, N failed, N skipped`; a check counts as a test.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checks } from './checks.ts';
import { type Tally } from './tally.ts';

const root = join(import.meta.dirname, '..');

const failedChecks: string[] = [];
for (const task of checks) {
  const check = task.replace('//#', '');
  console.log(`\n── ${check}`);
  if ((await run('turbo', ['run', task, '--output-logs=new-only'])) !== 0) failedChecks.push(check);
}

console.log('\n── spec coverage');
// On a developer's machine the page is written anew; where nobody commits it must be current.
const pageArgs = process.env['CI'] ? ['--check'] : [];
if ((await run('node', ['scripts/spec-coverage.ts', ...pageArgs])) !== 0) failedChecks.push('spec coverage');

console.log('\n── tests');
const { tally, code } = await runTests();
if (tally.skipped.length > 0)
  console.log(`\nSkipped:\n${tally.skipped.map((line) => `  ${line}`).join('\n')}`);
// A second try keeps chance from deciding over a change; what needed one is a fault of the test all the same.
if (tally.secondTry.length > 0)
  console.log(`\nPassed at the second try:\n${tally.secondTry.map((line) => `  ${line}`).join('\n')}`);

const checksRun = checks.length + 1;
const passedChecks = checksRun - failedChecks.length;
const failed = Math.max(tally.failed, code === 0 ? 0 : 1) + failedChecks.length;
console.log(`\nChecks passed: ${passedChecks} of ${checksRun}, counted as tests below.`);
if (failedChecks.length > 0) console.log(`Checks failed: ${failedChecks.join(', ')}`);
console.log(`${tally.passed + passedChecks} passed, ${failed} failed, ${tally.skipped.length} skipped`);
process.exitCode = failed > 0 ? 1 : 0;

async function runTests(): Promise<{ tally: Tally; code: number }> {
  const scratch = mkdtempSync(join(tmpdir(), 'stemma-verify-'));
  const target = join(scratch, 'tally.json');
  const reporters = ['default', join(import.meta.dirname, 'tally-reporter.ts')];
  const code = await run('vitest', ['run', ...reporters.map((name) => `--reporter=${name}`)], {
    STEMMA_TALLY: target,
  });
  try {
    return { tally: JSON.parse(readFileSync(target, 'utf8')) as Tally, code };
  } catch {
    // No tally: the run did not come to its end, which is a failure and not an empty success.
    return { tally: { passed: 0, failed: 1, skipped: [], secondTry: [] }, code };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function run(
  program: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', ...environment },
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
