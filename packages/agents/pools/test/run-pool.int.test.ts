import { messagesOf } from '@stemma/agent-loop';
import { historyId } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askPool, runPool, startPool, viewPool } from '../src/index.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-pool-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

const SEEDS = [
  'The sea keeps what it is given.',
  'Nobody counts the stones at night.',
  'A door that is open is not yet a way.',
  'We wrote our names in the sand, and the sea read them.',
  'Who samples the sampler?',
  'The night counts stones, one for every name.',
];

const start = async (name: string, settings = {}): Promise<BranchRef> => {
  await startPool(home, {
    id: `start-${name}`,
    name,
    by: { actor: 'ann' },
    messages: SEEDS,
    system: 'You are one of many minds.',
    settings: { sample_size: 3, active_pool_size: 20, seed: 7, ...settings },
  });
  return home.find(name);
};

test(
  'a pool runs for some rounds: each shows a sample, and what is said enters the pool',
  { tags: ['pool:Runner'] },
  async () => {
    const branch = await start('sea');
    const run = await runPool(home, branch, { rounds: 12, actor: 'ann', checkpointEvery: 5 });
    expect(run).toMatchObject({ rounds: 12, round: 12, ended: 'rounds', error: null });
    const { messages, round } = await viewPool(home, branch);
    expect(round).toBe(12);
    expect(messages).toHaveLength(SEEDS.length + run.added);
    expect(messages.map(({ vectorId }) => vectorId)).toEqual(messages.map((_, i) => i));
    expect(messages.reduce((sum, { sampled }) => sum + sampled, 0)).toBe(36);
    // What a mind was shown is what the snapshot shows, and the bytes of the request.
    const { attempts } = await home.calls.list(branch);
    expect(attempts).toHaveLength(12);
    for (const { label, attemptId } of attempts) {
      const shown = messagesOf(await home.read.view(await home.position(branch, label)));
      const body = Buffer.from(await home.calls.body(branch.history, attemptId, 'request')).toString();
      expect((JSON.parse(body) as { messages: unknown }).messages).toEqual(shown);
      expect(shown).toHaveLength(5);
    }
    const { interventions } = await home.queries.audit.interventions(branch);
    expect(interventions.filter(({ intervention_type: type }) => type === 'run')).toHaveLength(3);
    expect(await home.operations.replay({ verify: true })).toMatchObject({ differences: 0 });
  },
);

test(
  'two pools with the same messages and seed say the same, and one with another seed does not',
  { tags: ['pool:Runner'] },
  async () => {
    const texts: string[][] = [];
    for (const [name, seed] of [
      ['one', 7],
      ['two', 7],
      ['three', 8],
    ] as const) {
      const branch = await start(name, { seed });
      await runPool(home, branch, { rounds: 8, actor: 'ann' });
      texts.push((await viewPool(home, branch)).messages.map(({ text }) => text));
    }
    expect(texts[1]).toEqual(texts[0]);
    expect(texts[2]).not.toEqual(texts[0]);
  },
);

test('ten rounds at once are the same as ten runs of one round', { tags: ['pool:Runner'] }, async () => {
  const [one, two] = [await start('one'), await start('two')];
  await runPool(home, one, { rounds: 10, actor: 'ann' });
  for (let i = 0; i < 10; i++) await runPool(home, two, { rounds: 1, actor: 'ann' });
  const texts = async (branch: typeof one) =>
    (await viewPool(home, branch)).messages.map(({ text, sampled }) => [text, sampled]);
  expect(await texts(two)).toEqual(await texts(one));
});

test(
  'a message that an observer injects may be shown from the next round on, and is not lost',
  { tags: ['pool:Interventions'] },
  async () => {
    const branch = await start('sea', { active_pool_size: 3 });
    const inject = (text: string) =>
      home.submit({
        id: text,
        history: branch.history,
        branchId: branch.branchId,
        by: { actor: 'ann' },
        steps: [{ op: 'inject', text }],
      });
    let injected = 0;
    await runPool(home, branch, {
      rounds: 6,
      actor: 'ann',
      progress: ({ round }) => {
        if (round === 2) void inject('What if the sea forgets?').then(() => injected++);
      },
    });
    await expect.poll(() => injected).toBe(1);
    const { messages } = await viewPool(home, branch);
    expect(messages.filter(({ text }) => text === 'What if the sea forgets?')).toHaveLength(1);
    expect(await home.operations.verify()).toMatchObject({ ok: true });
  },
);

test(
  'a pool that runs in one process is refused in another one, so that nobody pays twice',
  { tags: ['pool:Runner'] },
  async () => {
    const branch = await start('sea');
    let other: unknown;
    await runPool(home, branch, {
      rounds: 2,
      actor: 'ann',
      progress: ({ round }) => {
        if (round === 1)
          other = runPool(home, branch, { rounds: 1, actor: 'bob' }).catch((error: unknown) => error);
      },
    });
    expect(await other).toMatchObject({ code: 'E_BUSY' });
    expect((await home.calls.list(branch)).attempts).toHaveLength(2);
    expect(await runPool(home, branch, { rounds: 1, actor: 'bob' })).toMatchObject({ rounds: 1, round: 3 });
  },
);

test(
  'a question is answered and recorded, and adds nothing to the pool',
  { tags: ['pool:Runner'] },
  async () => {
    const branch = await start('sea');
    const before = await viewPool(home, branch);
    const { answer, messages } = await askPool(home, branch, {
      id: 'q',
      question: 'What changed?',
      actor: 'ann',
    });
    expect(answer).not.toBe('');
    expect(messages).toBe(SEEDS.length);
    expect((await viewPool(home, branch)).messages).toEqual(before.messages);
    const { interventions } = await home.queries.audit.interventions(branch);
    expect(interventions.filter(({ intervention_type: type }) => type === 'external_query')).toMatchObject([
      { actor: 'ann', content: { question: 'What changed?', answer, mind: 'offline' } },
    ]);
  },
);

test(
  'bad pools are refused and stay as they were: too small, not one, unknown minds',
  { tags: ['pool:Runner'] },
  async () => {
    const branch = await start('small', { sample_size: 7 });
    const tip = await home.position(branch);
    await expect(runPool(home, branch, { rounds: 1, actor: 'ann' })).rejects.toMatchObject({
      code: 'E_POOL_TOO_SMALL',
    });
    expect(await home.position(branch)).toEqual(tip);
    await expect(start('strange', { minds: ['nobody:x'] })).rejects.toMatchObject({ code: 'E_MIND_INVALID' });
    await expect(start('zero', { sample_size: 0 })).rejects.toMatchObject({ code: 'E_CONFIG_INVALID' });
    const plain = await home.submit({
      id: 'plain',
      history: historyId('plain', 'plain'),
      branchId: 0,
      by: { actor: 'ann' },
      steps: [{ op: 'start', name: 'plain' }],
    });
    const notOne = await home.find(plain.history);
    await expect(runPool(home, notOne, { rounds: 1, actor: 'ann' })).rejects.toMatchObject({
      code: 'E_NOT_A_POOL',
    });
    await expect(viewPool(home, notOne)).rejects.toMatchObject({ code: 'E_NOT_A_POOL' });
  },
);

test(
  'a mind that does not answer stops the run; the next one asks again, and the round counts once',
  { tags: ['pool:Runner'] },
  async () => {
    const branch = await start('sea', { minds: ['openai:m@http://127.0.0.1:9/v1'] });
    const env = { OPENAI_API_KEY: 'sk-test' };
    const minds = { env, sleep: () => Promise.resolve(), random: () => 0 };
    const failed = await runPool(home, branch, { rounds: 2, actor: 'ann', minds });
    expect(failed).toMatchObject({ rounds: 0, ended: 'failed', error: { code: 'E_MIND_UNREACHABLE' } });
    const { history, branchId } = branch;
    await home.submit({
      id: 'other mind',
      history,
      branchId,
      by: { actor: 'ann' },
      steps: [{ op: 'config', set: { minds: ['offline'] } }],
    });
    const run = await runPool(home, branch, { rounds: 3, actor: 'ann' });
    expect(run).toMatchObject({ rounds: 3, round: 3, added: 3, ended: 'rounds' });
    const { messages } = await viewPool(home, branch);
    expect(messages.map(({ round }) => round)).toEqual([...SEEDS.map(() => 0), 1, 2, 3]);
    expect(messages.reduce((sum, { sampled }) => sum + sampled, 0)).toBe(9);
  },
);

test(
  'a run that is stopped between two rounds, or at its limits, goes on as if it had not been',
  { tags: ['pool:Runner'] },
  async () => {
    const [one, two] = [await start('one'), await start('two')];
    await runPool(home, one, { rounds: 9, actor: 'ann' });
    const stop = new AbortController();
    const progress = ({ round }: { readonly round: number }): void => {
      if (round === 4) stop.abort();
    };
    expect(
      await runPool(home, two, { rounds: 9, actor: 'ann', signal: stop.signal, progress }),
    ).toMatchObject({
      rounds: 4,
      ended: 'cancelled',
    });
    expect(await runPool(home, two, { rounds: 5, actor: 'ann', tokens: 1 })).toMatchObject({
      rounds: 1,
      ended: 'tokens',
    });
    expect(await runPool(home, two, { rounds: 4, actor: 'ann', seconds: 0.0001 })).toMatchObject({
      ended: 'time',
    });
    const left = 9 - (await viewPool(home, two)).round;
    await runPool(home, two, { rounds: left, actor: 'ann' });
    const texts = async (branch: BranchRef) =>
      (await viewPool(home, branch)).messages.map(({ text }) => text);
    expect(await texts(two)).toEqual(await texts(one));
  },
);

test(
  'a fork goes on from a round of its parent, whose answer enters it, and counts what was shown on its path alone',
  { tags: ['pool:Branches-and-snapshots'] },
  async () => {
    const branch = await start('sea');
    await runPool(home, branch, { rounds: 6, actor: 'ann' });
    const { history } = branch;
    const at = await home.position(branch, '@c4');
    await home.submit({
      id: 'fork',
      history,
      branchId: 0,
      by: { actor: 'ann' },
      steps: [{ op: 'fork', name: 'again', at: { branchId: at.branchId, seq: at.seq } }],
    });
    const again = await home.find('sea:again');
    // The fork begins with the answer that round 4 had; then the same seed over the same messages says the same.
    expect(await runPool(home, again, { rounds: 3, actor: 'ann' })).toMatchObject({ rounds: 3, round: 6 });
    const seen = async (of: BranchRef) =>
      (await viewPool(home, of)).messages.map(({ text, sampled }) => [text, sampled]);
    expect(await seen(again)).toEqual(await seen(branch));
  },
);
