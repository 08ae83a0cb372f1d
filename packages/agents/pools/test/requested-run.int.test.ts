import type { BranchRef } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { sendAnswer, startModels, type ModelScript, type ScriptedModels } from '@stemma/test-kit';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  requestRun,
  resumeRun,
  runPool,
  serveRun,
  startPool,
  stopRun,
  viewPool,
  viewRun,
  viewRuns,
} from '../src/index.ts';

let directory: string;
let home: Home;
let closing: AsyncDisposableStack;
beforeEach(async () => {
  closing = new AsyncDisposableStack();
  directory = mkdtempSync(join(tmpdir(), 'stemma-requested-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await closing.disposeAsync();
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A server of models that ends with the test. */
const modelsOf = async (script: ModelScript): Promise<ScriptedModels> => {
  const models = await startModels(script);
  closing.defer(() => models.close());
  return models;
};

const SEEDS = [
  'The sea keeps what it is given.',
  'Nobody counts the stones at night.',
  'A door that is open is not yet a way.',
  'We wrote our names in the sand, and the sea read them.',
  'Who samples the sampler?',
];

const start = async (name: string, settings = {}): Promise<BranchRef> => {
  await startPool(home, {
    id: `start-${name}`,
    name,
    by: { actor: 'ann' },
    messages: SEEDS,
    settings: { sample_size: 3, active_pool_size: 20, seed: 7, ...settings },
  });
  return home.find(name);
};

const serve = async (
  branch: BranchRef,
  run: string,
  options: Partial<Parameters<typeof serveRun>[2]> = {},
  by = home,
) =>
  serveRun(by, await by.queries.runs.find(branch.history, run), {
    runner: 'one',
    signal: new AbortController().signal,
    clock: () => Date.now(),
    ...options,
  });

const textsOf = async (branch: BranchRef): Promise<readonly (string | number)[][]> =>
  (await viewPool(home, branch)).messages.map(({ text, sampled }) => [text, sampled]);

const runInterventions = async (branch: BranchRef) =>
  (await home.queries.audit.interventions(branch)).interventions
    .filter(({ intervention_type: type }) => type === 'run')
    .map(({ content }) => content);

test(
  'a runner makes the rounds that an actor asked for, and says when and why they are over',
  { tags: ['pool:Runner', 'pool:Interventions'] },
  async () => {
    const [asked, direct] = [await start('sea'), await start('other')];
    const waiting = await requestRun(home, asked, {
      id: 'r',
      actor: 'ann',
      notes: 'day one',
      rounds: 7,
      checkpointEvery: 3,
    });
    expect(await viewRun(home, waiting)).toMatchObject({
      state: 'waiting',
      done: 0,
      rounds: 7,
      notes: 'day one',
    });
    // The same request sent again is the same run.
    await requestRun(home, asked, { id: 'r', actor: 'ann', notes: 'day one', rounds: 7, checkpointEvery: 3 });
    expect(await home.queries.runs.open()).toHaveLength(1);
    expect(await serve(asked, 'r')).toBe('rounds');
    expect(await viewRuns(home, { history: asked.history })).toMatchObject([
      {
        run: 'r',
        state: 'ended',
        done: 7,
        actor: 'ann',
        runner: 'one',
        ended: { how: 'rounds', why: 'all 7 rounds are done', by: null },
      },
    ]);
    expect(await home.queries.runs.open()).toEqual([]);
    expect(await runInterventions(asked)).toMatchObject([
      { requested: 7, checkpoint_every: 3 },
      { rounds: 3, total_rounds_after: 3 },
      { rounds: 3, total_rounds_after: 6 },
      { rounds: 1, total_rounds_after: 7 },
    ]);
    await runPool(home, direct, { rounds: 7, actor: 'ann' });
    expect(await textsOf(asked)).toEqual(await textsOf(direct));
    // Served again, nothing happens.
    expect(await serve(asked, 'r')).toBe('rounds');
    expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
  },
);

/** Everything that a home records, until the n-th write: then it is as if the process were killed. */
const killedAfter = (writes: number): Home => {
  let left = writes;
  const counted =
    <Args extends readonly unknown[], T>(write: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      left-- <= 0 ? Promise.reject(new Error('killed')) : write(...args);
  const { calls } = home;
  return {
    ...home,
    submit: counted((command) => home.submit(command)),
    calls: {
      ...calls,
      startCallAtTip: counted((branch, call) => calls.startCallAtTip(branch, call)),
      finishCall: counted((branch, end) => calls.finishCall(branch, end)),
    },
  };
};

test(
  'a runner that is killed at any point is replaced: no round is lost or made twice, and no recorded answer is asked for again',
  { tags: ['long', 'pool:Runner'] },
  async () => {
    let calls = 0;
    const models = await modelsOf((call, _n, outgoing) => {
      calls++;
      const shown =
        (call.asked?.['messages'] as readonly { readonly content: string }[]).at(-1)?.content ?? '';
      sendAnswer(call, outgoing, {
        text: `thinking\n---\nAfter ${shown.slice(0, 12)} comes more.`,
        tokens: [10, 5],
      });
    });
    const env = { OPENAI_API_KEY: 'sk-test' };
    const minds = { env, random: () => 0, sleep: () => Promise.resolve() };
    const settings = { minds: [`openai:m@${models.url}/v1`] };
    const whole = await start('whole', settings);
    await requestRun(home, whole, { id: 'r', actor: 'ann', rounds: 4, checkpointEvery: 2 });
    await serve(whole, 'r', { minds });
    const expected = await textsOf(whole);
    expect(calls).toBe(4);
    const interventions = await runInterventions(whole);
    let kills = 0;
    for (let writes = 0; ; writes++) {
      const branch = await start(`killed-${writes}`, settings);
      await requestRun(home, branch, { id: 'r', actor: 'ann', rounds: 4, checkpointEvery: 2 });
      calls = 0;
      const first = await serve(branch, 'r', { minds }, killedAfter(writes)).catch((error: unknown) => error);
      if (first === 'rounds') break;
      kills++;
      const { attempts } = await home.calls.list(branch);
      const answered = attempts.filter(({ status }) => status === 'answered').length;
      const before = calls;
      expect(await serve(branch, 'r', { minds, runner: 'two' })).toBe('rounds');
      expect(calls - before).toBe(4 - answered);
      expect(await textsOf(branch)).toEqual(expected);
      const content = await runInterventions(branch);
      expect(content.map(({ rounds }) => rounds)).toEqual(interventions.map(({ rounds }) => rounds));
      expect(await viewRun(home, await home.queries.runs.find(branch.history, 'r'))).toMatchObject({
        done: 4,
        state: 'ended',
      });
    }
    // Taken, then for each round sample, call, end and messages, two checkpoints, and the end.
    expect(kills).toBe(1 + 4 * 4 + 2 + 1);
  },
);

test(
  'two runners that both believe to have a run make each round once: the log decides whose frame counts',
  { tags: ['pool:Runner'] },
  async () => {
    const [alone, shared] = [await start('alone'), await start('shared')];
    await runPool(home, alone, { rounds: 12, actor: 'ann' });
    await requestRun(home, shared, { id: 'r', actor: 'ann', rounds: 12 });
    const other = await openHome({ directory });
    try {
      const unclaimed = (of: Home): Home => ({
        ...of,
        calls: { ...of.calls, claimRun: () => () => undefined },
      });
      await Promise.all([
        serve(shared, 'r', { runner: 'one' }, unclaimed(home)),
        serve(shared, 'r', { runner: 'two' }, unclaimed(other)),
      ]);
    } finally {
      await other.close();
    }
    expect(await textsOf(shared)).toEqual(await textsOf(alone));
    expect((await viewPool(home, shared)).round).toBe(12);
    const events = await home.read.events(shared.history, { limit: 10_000 });
    const ended = events.filter(({ event }) => event.type === 'RunEnded');
    expect(ended).toHaveLength(1);
    expect(await home.operations.verify()).toMatchObject({ ok: true });
  },
);

test(
  'a run that is stopped keeps its rounds, and one that goes on makes those that are left',
  { tags: ['pool:Runner'] },
  async () => {
    const [branch, whole] = [await start('sea'), await start('whole')];
    await requestRun(home, branch, { id: 'r', actor: 'ann', rounds: 9 });
    let stopped: Promise<unknown> = Promise.resolve();
    const how = await serve(branch, 'r', {
      progress: ({ round }) => {
        if (round === 4) stopped = stopRun(home, branch.history, 'r', { actor: 'bob', notes: 'enough' });
      },
    });
    await stopped;
    expect(how).toBe('stopped');
    const view = await viewRun(home, await home.queries.runs.find(branch.history, 'r'));
    expect(view).toMatchObject({
      state: 'ended',
      ended: { how: 'stopped', by: 'bob', notes: 'enough', why: 'bob stopped it' },
    });
    expect(view.done).toBeGreaterThanOrEqual(4);
    await resumeRun(home, branch.history, 'r', { id: 'r2', actor: 'ann' });
    expect(await serve(branch, 'r2')).toBe('rounds');
    const { round } = await viewPool(home, branch);
    expect(round - 9).toBeLessThanOrEqual(1);
    await runPool(home, whole, { rounds: round, actor: 'ann' });
    expect(await textsOf(branch)).toEqual(await textsOf(whole));
    await expect(resumeRun(home, branch.history, 'r2', { id: 'r3', actor: 'ann' })).rejects.toMatchObject({
      code: 'E_USAGE',
    });
    await expect(stopRun(home, branch.history, 'none', { actor: 'ann' })).rejects.toMatchObject({
      code: 'E_RUN_NOT_FOUND',
    });
  },
);

test('a rollback that abandons the branch stops its run', { tags: ['pool:Runner', 'pool'] }, async () => {
  const branch = await start('sea');
  await requestRun(home, branch, { id: 'r', actor: 'ann', rounds: 3 });
  const { branchId, seq } = await home.position(branch, '@s2');
  const { history } = branch;
  await home.submit({
    id: 'back',
    history,
    branchId,
    by: { actor: 'bob' },
    steps: [{ op: 'rollback', to: { branchId, seq } }],
  });
  expect(await serve(branch, 'r')).toBe('stopped');
  expect(await viewRuns(home, { history })).toMatchObject([
    { done: 0, ended: { why: 'a rollback abandoned its branch', by: null } },
  ]);
});

test(
  'limits count what a runner that is gone took: tokens, money and time, and the end says which',
  { tags: ['pool:Runner'] },
  async () => {
    const branch = await start('sea', { minds: ['offline'] });
    await requestRun(home, branch, { id: 'tokens', actor: 'ann', rounds: 50, tokens: 100 });
    const stop = new AbortController();
    const progress = ({ round }: { readonly round: number }): void => {
      if (round === 2) stop.abort();
    };
    expect(await serve(branch, 'tokens', { signal: stop.signal, progress })).toBe(null);
    expect(await viewRuns(home, { open: true })).toMatchObject([
      { run: 'tokens', state: 'running', done: 2 },
    ]);
    expect(await serve(branch, 'tokens', { runner: 'two' })).toBe('tokens');
    const { attempts } = await home.calls.list(branch);
    const tokens = attempts.map(({ usage }) => (usage?.input ?? 0) + (usage?.output ?? 0));
    const all = tokens.reduce((a, b) => a + b, 0);
    expect(all).toBeGreaterThanOrEqual(100);
    expect(all - (tokens.at(-1) ?? 0)).toBeLessThan(100);
    await requestRun(home, branch, { id: 'time', actor: 'ann', rounds: 50, seconds: 60 });
    let now = Date.now();
    expect(await serve(branch, 'time', { clock: () => (now += 25_000) })).toBe('time');
    await requestRun(home, branch, { id: 'free', actor: 'ann', rounds: 2, cost: '0.01' });
    expect(await serve(branch, 'free')).toBe('rounds');
  },
);

test(
  'different minds in one pool are asked in turn, and the money that they take is counted by the price table',
  { tags: ['pool:Runner'] },
  async () => {
    await home.close();
    const prices = {
      currency: 'USD',
      models: { 'm-1': { input: '1000', output: '2000' }, 'm-2': { input: '1000', output: '2000' } },
    };
    writeFileSync(join(directory, 'prices.json'), JSON.stringify(prices));
    home = await openHome({ directory });
    const models = await modelsOf((call, n, outgoing) => {
      sendAnswer(call, outgoing, { text: `From ${String(call.asked?.['model'])}, ${n}.`, tokens: [100, 50] });
    });
    const minds = {
      env: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' },
      random: () => 0,
      sleep: () => Promise.resolve(),
    };
    const branch = await start('sea', {
      minds: [`openai:m-1@${models.url}/v1`, 'offline', `anthropic:m-2@${models.url}`],
      parameters: { max_tokens: 64 },
    });
    // Each call costs 0.1 + 0.1; the offline one nothing.
    await requestRun(home, branch, { id: 'r', actor: 'ann', rounds: 50, cost: '0.75' });
    expect(await serve(branch, 'r', { minds })).toBe('cost');
    expect(await viewRuns(home)).toMatchObject([
      { done: 6, ended: { why: 'the rounds cost 0.8 USD of 0.75' } },
    ]);
    expect(models.calls.map(({ asked }) => asked?.['model'])).toEqual(['m-1', 'm-2', 'm-1', 'm-2']);
    const ids = (await viewPool(home, branch)).messages.slice(SEEDS.length).map(({ mindId }) => mindId);
    expect(ids).toEqual([0, 1, 2, 0, 1, 2]);
  },
);

test.each([
  ['is down', 'E_MIND_UNREACHABLE', null],
  ['answers garbage', 'E_MIND_ANSWER_INVALID', 'garbage'],
  ['hangs', 'E_MIND_TIMEOUT', 'hang'],
  ['streams without end', 'E_MIND_ANSWER_TOO_LARGE', 'endless'],
])(
  'a mind that %s ends the run with a coded error, and the pool as it was',
  { tags: ['pool:Runner'] },
  async (_what, code, kind) => {
    const models = await modelsOf((_call, _n, outgoing) => {
      if (kind === 'hang') return;
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      if (kind === 'garbage') {
        outgoing.end('{"choices": 7');
        return;
      }
      const more = (): void => {
        while (!outgoing.destroyed && outgoing.write('x'.repeat(65_536)));
      };
      outgoing.on('drain', more);
      more();
    });
    const url = kind === null ? 'http://127.0.0.1:9' : models.url;
    const branch = await start('sea', { minds: [`openai:m@${url}/v1`] });
    const before = await viewPool(home, branch);
    await requestRun(home, branch, { id: 'r', actor: 'ann', rounds: 3 });
    const limits = { firstByte: 200, whole: 2_000, answer: 1_000_000, tries: 2 };
    const minds = { env: { OPENAI_API_KEY: 'k' }, random: () => 0, sleep: () => Promise.resolve(), limits };
    expect(await serve(branch, 'r', { minds })).toBe('failed');
    expect(await viewRuns(home)).toMatchObject([{ done: 0, ended: { how: 'failed', code } }]);
    expect((await viewPool(home, branch)).messages.map(({ text }) => text)).toEqual(
      before.messages.map(({ text }) => text),
    );
    expect(await home.operations.verify()).toMatchObject({ ok: true });
  },
);

test(
  'a pool that cannot run ends its run with why, and one of which nobody asked is not there',
  { tags: ['pool:Runner'] },
  async () => {
    const small = await start('small', { sample_size: 9 });
    await requestRun(home, small, { id: 'r', actor: 'ann', rounds: 3 });
    expect(await serve(small, 'r')).toBe('failed');
    expect(await viewRuns(home)).toMatchObject([{ ended: { how: 'failed', code: 'E_POOL_TOO_SMALL' } }]);
    await expect(requestRun(home, small, { id: 'x', actor: 'ann', rounds: 0 })).rejects.toMatchObject({
      code: 'E_USAGE',
    });
    await expect(
      requestRun(home, small, { id: 'x', actor: 'ann', rounds: 1, cost: 'all' }),
    ).rejects.toMatchObject({ code: 'E_USAGE' });
    const asked = { runner: 'one', signal: new AbortController().signal, clock: () => 0, minds: { env: {} } };
    const branch = await start('sea', { minds: ['openai:gpt-4o'] });
    await requestRun(home, branch, { id: 'r', actor: 'ann', rounds: 3 });
    expect(await serve(branch, 'r', asked)).toBe('failed');
    expect(await viewRuns(home, { history: branch.history })).toMatchObject([
      { ended: { code: 'E_MIND_KEY_MISSING' } },
    ]);
  },
);
