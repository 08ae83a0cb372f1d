import { compareRuns } from '@stemma/analysis';
import type { WideJsonObject } from '@stemma/canonical';
import type { Step } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { runPool, startPool } from '@stemma/pools';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordedArms } from '../src/index.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-experiments-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

let commands = 0;
const submit = (
  { history, branchId }: BranchRef,
  by: { actor: string } | { recorder: string },
  steps: readonly Step[],
) => home.submit({ id: `c${commands++}`, history, branchId, by, steps: [...steps] });
const fork = async (branch: BranchRef, name: string): Promise<BranchRef> => {
  await submit(branch, { actor: 'ann' }, [{ op: 'fork', name }]);
  return home.find(`${branch.history}:${name}`);
};

test(
  'rounds of a pool are read since the branches part: what was shown, taken up and said',
  { tags: ['pool§7.19'] },
  async () => {
    await startPool(home, {
      id: 'start',
      name: 'sea',
      by: { actor: 'ann' },
      messages: ['The sea keeps stones.', 'A door is open.', 'We count names.', 'Who asks the night?'],
      settings: { sample_size: 2, active_pool_size: 20, seed: 7 },
    });
    const main = await home.find('sea');
    await runPool(home, main, { rounds: 4, actor: 'ann' });
    const probe = await fork(main, 'probe');
    await submit(probe, { actor: 'ann' }, [{ op: 'inject', text: 'Could this be undone?' }]);
    await runPool(home, probe, { rounds: 5, actor: 'ann' });
    await runPool(home, main, { rounds: 3, actor: 'ann' });
    const { kind, a, b } = await recordedArms(home, { a: [main], b: [probe] });
    expect(kind).toBe('pool');
    expect([a[0]?.steps.length, b[0]?.steps.length]).toEqual([3, 5]);
    for (const { choices, texts } of b[0]?.steps ?? []) {
      expect(choices['message taken up']).toHaveLength(1);
      expect(choices['stop reason']).toEqual(['stop']);
      expect(texts[0]?.vector).toHaveLength(512);
    }
    expect(compareRuns(a, b).verdict).toBe('cannot tell');
  },
);

/** A block of an agent's answer: a text, or a call of a tool. */
const said = (text: string): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { nodeType: 'cb', offset: 0, role: 'assistant', kind: 'text', content: text },
});
const called = (name: string, given: string): Step => ({
  op: 'insert',
  parent: '^ah',
  node: {
    nodeType: 'cb',
    offset: 0,
    role: 'assistant',
    kind: 'call',
    content: { id: `call-${commands}`, type: 'function', function: { name, arguments: given } },
  },
});

test(
  'calls of an agent are read since the branches part: tools, arguments, their order, what was said',
  { tags: ['pool§7.19'] },
  async () => {
    await home.submit({
      id: 'start',
      history: 'desk',
      branchId: 0,
      by: { recorder: 'agent' },
      steps: [{ op: 'start', name: 'desk' }],
    });
    const main = await home.find('desk');
    await submit(main, { recorder: 'agent' }, [said('Hello.'), { op: 'commit' }]);
    const other = await fork(main, 'other');
    await submit(main, { recorder: 'agent' }, [
      said('I look.'),
      called('search', '{"b": 1, "a": 2}'),
      { op: 'commit' },
    ]);
    await submit(main, { recorder: 'agent' }, [said('Done.'), { op: 'commit' }]);
    // What an observer writes in the agent's name is not the agent's decision.
    await submit(other, { actor: 'ann' }, [
      { op: 'inject', text: 'I was told to refund.', role: 'assistant' },
    ]);
    await submit(other, { recorder: 'agent' }, [called('refund', 'not JSON'), { op: 'commit' }]);
    const { kind, a, b } = await recordedArms(home, { a: [main], b: [other] });
    expect(kind).toBe('agent');
    expect(a[0]?.steps).toEqual([
      {
        choices: {
          action: ['search'],
          'tool with arguments': ['search {"a":2,"b":1}'],
          'order of actions': ['begin → search'],
        },
        texts: [{ about: 'search', text: 'I look.' }],
      },
      {
        choices: { action: ['answer'], 'order of actions': ['search → answer'] },
        texts: [{ about: 'answer', text: 'Done.' }],
      },
    ]);
    expect(b[0]?.steps).toEqual([
      {
        choices: {
          action: ['refund'],
          'tool with arguments': ['refund not JSON'],
          'order of actions': ['begin → refund'],
        },
        texts: [],
      },
    ]);
    const empty = await fork(main, 'empty');
    await expect(recordedArms(home, { a: [main], b: [main] })).rejects.toMatchObject({ code: 'E_USAGE' });
    await expect(recordedArms(home, { a: [main], b: [empty] })).rejects.toMatchObject({ code: 'E_USAGE' });
  },
);

test(
  'the answer of the last call counts, though no later request holds it',
  { tags: ['pool§7.19'] },
  async () => {
    const by = { recorder: 'agent' };
    await home.submit({
      ...{ id: 'start', history: 'desk', branchId: 0, by },
      steps: [{ op: 'start', name: 'desk' }],
    });
    const main = await home.find('desk');
    await submit(main, by, [{ op: 'commit' }]);
    const other = await fork(main, 'other');
    const facts = { api: 'openai.chat', model: 'm', parameters: {}, tools: null, request: null } as const;
    const call = async (
      branch: BranchRef,
      id: string,
      messages: readonly WideJsonObject[],
      answer: WideJsonObject,
    ) => {
      await home.calls.recordCall(branch, { id, by, messages, facts });
      await home.calls.finishCall(branch, {
        ...{ by, attemptId: id, status: 'answered', httpStatus: 200, finishReason: 'stop', model: 'm' },
        ...{ usage: null, firstByteMs: 1, durationMs: 2, error: null, answer, response: null },
      });
    };
    const asked = { role: 'user', content: 'Which one?' };
    const search = { id: 'a', type: 'function', function: { name: 'search', arguments: '{}' } };
    const first = { role: 'assistant', content: 'I look.', tool_calls: [search] };
    const found = { role: 'tool', tool_call_id: 'a', content: 'nothing' };
    await call(main, 'm1', [asked], first);
    await call(main, 'm2', [asked, first, found], { role: 'assistant', content: 'None.' });
    await call(other, 'o1', [asked], { role: 'assistant', content: 'The red one.' });
    const { a, b } = await recordedArms(home, { a: [main], b: [other] });
    expect(
      a[0]?.steps.map(({ choices, texts }) => [choices['action'], texts.map(({ text }) => text)]),
    ).toEqual([
      [['search'], ['I look.']],
      [['answer'], ['None.']],
    ]);
    expect(b[0]?.steps.map(({ texts }) => texts.map(({ text }) => text))).toEqual([['The red one.']]);
  },
);
