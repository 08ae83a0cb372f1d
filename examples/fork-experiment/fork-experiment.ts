import { compareRuns } from '@stemma/analysis';
import { recordedArms } from '@stemma/experiments';
import type { Step } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { askPool, runPool, startPool } from '@stemma/pools';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const stemma = fileURLToPath(new URL('../../stemma', import.meta.url));
const seeds = fileURLToPath(new URL('../../samples/seeds.txt', import.meta.url));

const [directory, given = '100'] = process.argv.slice(2);
const rounds = Number(given);
if (directory === undefined || !Number.isSafeInteger(rounds) || rounds < 5) {
  console.error('usage: fork-experiment.ts DIRECTORY [ROUNDS, at least 5]');
  process.exit(64);
}

// A clock that goes on by a millisecond whenever it is read: the experiment comes to the same bytes whenever it runs.
let time = 1_700_000_000_000_000_000n;
const home = await openHome({ directory, create: true, clock: () => (time += 1_000_000n) });
const actor = 'observer';
const submit = ({ history, branchId }: BranchRef, id: string, notes: string, step: Step) =>
  home.submit({ id, history, branchId, by: { actor }, notes, steps: [step] });
const run = (branch: BranchRef, count: number, notes: string) =>
  runPool(home, branch, { rounds: count, actor, notes });

// A pool, and the point at which something is decided.
const messages = (await readFile(seeds, 'utf8')).split(/^---$/m).map((text) => text.trim());
await startPool(home, {
  id: 'fork-experiment',
  name: 'sea',
  by: { actor },
  messages,
  settings: { sample_size: 3, active_pool_size: 60, seed: 7 },
});
const main = await home.find('sea');
await run(main, 20, 'up to the decision point');
await submit(main, 'decision', 'here the branches part', {
  op: 'save',
  name: 'decision-point',
  description: 'reversibility test',
});
const { branchId, seq } = await home.position(main, '@name:decision-point');
const decision = { branchId, seq };

const fork = async (name: string, seed: number): Promise<BranchRef> => {
  await submit(main, `fork ${name}`, `another run with seed ${seed}`, { op: 'fork', name, at: decision });
  const branch = await home.find(`sea:${name}`);
  await submit(branch, `seed ${name}`, 'samples of its own', { op: 'config', set: { seed } });
  return branch;
};
const probe = (branch: BranchRef, name: string) =>
  submit(branch, `probe ${name}`, 'the question of the experiment', {
    op: 'inject',
    text: 'What would you decide if this could be undone?',
  });

// One branch continues. The other is forked, goes on a while, is rolled back, and is asked.
await run(main, rounds, 'branch A continues');
await run(await fork('undone', 11), 20, 'branch B, before the rollback');
await submit(await home.find('sea:undone'), 'rollback', 'back to the decision point', {
  op: 'rollback',
  to: decision,
  abandoned: 'undone-before',
});
const undone = await home.find('sea:undone');
await submit(undone, 'seed after the rollback', 'samples of its own', { op: 'config', set: { seed: 12 } });
await probe(undone, 'undone');
await run(undone, rounds, 'branch B, after the question');

// What does chance do? Runs of both kinds with other seeds.
const [ofA, ofB]: [BranchRef[], BranchRef[]] = [[], []];
for (const i of [1, 2, 3]) {
  const again = await fork(`main-${i}`, 20 + i);
  await run(again, Math.ceil(rounds / 5), `branch A, run ${i}`);
  ofA.push(again);
  const asked = await fork(`undone-${i}`, 30 + i);
  await probe(asked, `undone-${i}`);
  await run(asked, Math.ceil(rounds / 5), `branch B, run ${i}`);
  ofB.push(asked);
}

for (const [name, branch] of [
  ['main', main],
  ['undone', undone],
] as const) {
  const question = 'What do you come back to?';
  const { answer } = await askPool(home, branch, {
    id: `ask ${name}`,
    question,
    actor,
    notes: 'asked at the end',
  });
  console.log(`${name}: ${answer}`);
}

const arms = await recordedArms(home, { a: [main, ...ofA], b: [undone, ...ofB] });
const verdict = compareRuns(arms.a, arms.b);
await writeFile(join(directory, 'verdict.json'), `${JSON.stringify(verdict, null, 2)}\n`);
await home.close();

const more = ['--runs', 'main-1', 'main-2', 'main-3', '--runs-b', 'undone-1', 'undone-2', 'undone-3'];
await promisify(execFile)(
  stemma,
  ['report', 'sea', '--branches', 'main,undone', '-o', 'report.html', ...more, '--home', '.'],
  { cwd: directory },
);
console.log(`verdict: ${verdict.verdict}; the report is ${join(directory, 'report.html')}`);
