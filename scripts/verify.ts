/**
 * One stage of the tests, on the built programs: every test that can run on this machine at its small size, in CI beside the static
 * checks; with `STEMMA_LONG=1` those that are left to the long stage, and the files that do more in a long run (scripts/long-files.ts). CI runs both.
 * Nothing stops at the first failure. The last line is `N passed, N failed, N skipped`; a check counts as a test.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isLong, scratchFolder } from '@stemma/test-kit';
import { checks } from './checks.ts';
import { type Tally } from './tally.ts';
import { longFiles } from './long-files.ts';
import { isOfLongStage } from './test-tiers.ts';

type Check = { readonly name: string; readonly program: string; readonly args: readonly string[] };

const root = join(import.meta.dirname, '..');
const inCi = Boolean(process.env['CI']);
const withChecks = inCi && !isLong;
/** The long stage runs after this one, so what is left to it is not skipped. */
const longFollows = process.env['STEMMA_LONG_FOLLOWS'] === '1';
const begun = performance.now();

/** A run fills about one GiB; tests that try a full disk have file systems of their own. */
const ENOUGH = 6 * 2 ** 30;

const built = await check({
  name: 'build',
  program: 'turbo',
  args: ['run', 'build', '--output-logs=new-only'],
});
const [failedOthers, { tally, code }] = await Promise.all([withChecks ? runChecks() : [], runTests(built)]);
const failedChecks = [...(built ? [] : ['build']), ...failedOthers];
const skipped = [...tally.skipped, ...(isLong ? [] : leftOut())].filter(
  (line) => !(longFollows && line.endsWith('STEMMA_LONG=1')),
);
if (skipped.length > 0) console.log(`\nSkipped:\n${skipped.map((line) => `  ${line}`).join('\n')}`);
// A second try keeps chance from deciding over a change; what needed one is a fault of the test all the same.
if (tally.secondTry.length > 0)
  console.log(`\nPassed at the second try:\n${tally.secondTry.map((line) => `  ${line}`).join('\n')}`);

// The build, and in CI the page of rules beside the others.
const checksRun = withChecks ? checks.length + 2 : 1;
const passedChecks = checksRun - failedChecks.length;
const failed = Math.max(tally.failed, code === 0 ? 0 : 1) + failedChecks.length;
console.log(`\nChecks passed: ${passedChecks} of ${checksRun}, counted as tests below.`);
if (failedChecks.length > 0) console.log(`Checks failed: ${failedChecks.join(', ')}`);
const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
console.log(`The ${isLong ? 'long' : 'short'} stage took ${minutes} minutes.`);
console.log(`${tally.passed + passedChecks} passed, ${failed} failed, ${skipped.length} skipped`);
process.exitCode = failed > 0 ? 1 : 0;

/** Says what the check has to say when it has ended; true if it passed. */
async function check({ name, program, args }: Check): Promise<boolean> {
  const { code, output } = await runQuietly(program, args);
  console.log(`\n── ${name}${code === 0 ? ' passed' : `\n${output.trimEnd()}`}`);
  return code === 0;
}

/** One after the other, as each keeps a processor busy; returns the names of those that failed. */
async function runChecks(): Promise<readonly string[]> {
  const failures: string[] = [];
  const all: readonly Check[] = [
    ...checks.map((task) => ({
      name: task.replace('//#', ''),
      program: 'turbo',
      args: ['run', task, '--output-logs=new-only'],
    })),
    { name: 'spec coverage', program: 'node', args: ['scripts/spec-coverage.ts', '--check'] },
  ];
  for (const each of all) if (!(await check(each))) failures.push(each.name);
  return failures;
}

/** The files that only the long stage runs, as skipped ones. */
function leftOut(): readonly string[] {
  return longFiles()
    .filter(isOfLongStage)
    .map((file) => `${file}: left to the long stage: STEMMA_LONG=1`);
}

/** @param built says that tests start the built programs, as users do. */
async function runTests(built: boolean): Promise<{ tally: Tally; code: number }> {
  const scratch = mkdtempSync(join(scratchFolder(ENOUGH), 'stemma-verify-'));
  chmodSync(scratch, 0o711); // PostgreSQL runs as a user of its own where we are root.
  const target = join(scratch, 'tally.json');
  const reporters = ['default', join(import.meta.dirname, 'tally-reporter.ts')];
  const code = await run('vitest', ['run', ...reporters.map((name) => `--reporter=${name}`)], {
    TMPDIR: scratch,
    STEMMA_TALLY: target,
    STEMMA_STAGE: isLong ? 'long' : 'short',
    ...(built && { STEMMA_TEST_BUILT: '1' }),
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

/** What a program printed, in the order in which it came. */
async function runQuietly(
  program: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const parts: Buffer[] = [];
  const code = await run(program, args, {}, (part) => parts.push(part));
  return { code, output: Buffer.concat(parts).toString() };
}

function run(
  program: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  take?: (part: Buffer) => void,
): Promise<number> {
  return new Promise((resolve) => {
    const output = take === undefined ? 'inherit' : 'pipe';
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', output, output],
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', ...environment },
    });
    if (take !== undefined) for (const stream of [child.stdout, child.stderr]) stream?.on('data', take);
    child.on('error', (error) => {
      console.error(`${program}: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => {
      resolve(code ?? 1);
    });
  });
}
