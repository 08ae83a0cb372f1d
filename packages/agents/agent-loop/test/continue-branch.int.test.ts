import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { toOpenAIMessages } from '@stemma/importers';
import {
  sendAnswer,
  sendJson,
  sized,
  startModels,
  type ModelScript,
  type ScriptedAnswer,
} from '@stemma/test-kit';
import { afterEach, expect, test } from 'vitest';
import { continueBranch, type ContinuedRun, type ContinueOptions } from '../src/index.ts';
import { history, main, MESSAGES, openTalk, temporaryFolder, tools } from './talk-home.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const setUp = async (script: ModelScript) => {
  const folder = temporaryFolder();
  const models = await startModels(script);
  const home = await openTalk(folder.directory);
  closing.push(
    async () => folder[Symbol.dispose](),
    () => models.close(),
    () => home.close(),
  );
  const go = (options: Partial<ContinueOptions>, branch = main): Promise<ContinuedRun> =>
    continueBranch(home, branch, {
      run: 'r1',
      actor: 'ann',
      mind: `openai:m-1@${models.url}`,
      ...options,
      minds: { env: {}, sleep: async () => undefined, ...options.minds },
    });
  return { home, models, go };
};

const shown = async (home: Home, branchId: number) => {
  const { tree, payloads, thread } = await home.read.view(
    await home.position(branchRefOf(history, branchId)),
  );
  return toOpenAIMessages(tree, payloads, thread);
};

/** Answers in order, whatever is asked. */
const says =
  (...answers: readonly ScriptedAnswer[]): ModelScript =>
  (call, n, outgoing) =>
    sendAnswer(call, outgoing, answers[n - 1] ?? { text: 'No more.' });

const south = (id: string) => ({ tools: [{ id, name: 'look', input: { place: 'south' } }] });

test(
  'a run goes on from an older position in a fork, answers tools from the recording, and ends when the model is done',
  { tags: ['calls§6.4', 'calls§6.5'] },
  async () => {
    const { home, models, go } = await setUp(says(south('new_1'), { text: 'A ship lies there.' }));
    const result = await go({ at: '@c1', name: 'again', calls: 5, notes: 'Would it look south first?' });
    expect(result).toMatchObject({
      ended: 'done',
      forked: true,
      error: null,
      mind: `openai:m-1@${models.url}`,
    });
    expect(result.calls.map(({ status, finishReason }) => [status, finishReason])).toEqual([
      ['answered', 'tool_calls'],
      ['answered', 'stop'],
    ]);
    expect(await shown(home, result.branchId)).toEqual([
      ...MESSAGES.slice(0, 2),
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'new_1', type: 'function', function: { name: 'look', arguments: '{"place":"south"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'new_1', content: 'one ship' },
      { role: 'assistant', content: 'A ship lies there.' },
    ]);
    // What was sent and what came is recorded byte for byte, with the parameters and tools of the call before.
    for (const [i, { attemptId }] of result.calls.entries()) {
      const request = await home.calls.body(history, attemptId, 'request');
      expect(Buffer.from(request).equals(models.calls[i]?.body as Buffer)).toBe(true);
    }
    expect(models.calls[1]?.asked).toEqual({
      model: 'm-1',
      temperature: 1,
      messages: (await shown(home, result.branchId)).slice(0, 4),
      tools,
    });
    expect(Buffer.from(await home.calls.body(history, 'r1.c2', 'response')).toString()).toContain(
      'A ship lies there.',
    );
    const fork = branchRefOf(history, result.branchId);
    const { interventions } = await home.queries.audit.interventions(fork, { branch: 'again' }, {});
    expect(interventions).toMatchObject([
      { intervention_type: 'fork', actor: 'ann', notes: 'Would it look south first?' },
      { intervention_type: 'run', actor: 'ann', content: { rounds: 2 } },
    ]);
    // The branch that it comes from is as it was.
    expect((await home.calls.list(main)).attempts).toHaveLength(3);
    expect((await home.read.snapshots(fork)).map(({ calls }) => calls)).toEqual([1, 1]);
  },
);

test(
  'at the tip an answer that is paid for enters the context, and nobody asks again',
  { tags: ['calls§6.4'] },
  async () => {
    const { home, models, go } = await setUp(says());
    const result = await go({ calls: 3 });
    expect(result).toMatchObject({ ended: 'done', forked: false, calls: [] });
    expect(models.calls).toHaveLength(0);
    expect(await shown(home, 0)).toEqual(MESSAGES);
    const again = await go({ calls: 3 });
    expect(again).toMatchObject({ ended: 'done', position: result.position });
    await home.submit({
      id: 'more',
      history,
      branchId: 0,
      by: { actor: 'ann' },
      steps: [{ op: 'inject', text: 'And in the east?', role: 'user' }],
    });
    const further = await go({ run: 'r2', calls: 1 });
    expect(further).toMatchObject({ ended: 'done', calls: [{ status: 'answered', label: '@c4' }] });
    expect(models.calls[0]?.asked?.['messages']).toEqual([
      ...MESSAGES,
      { role: 'user', content: 'And in the east?' },
    ]);
  },
);

test(
  'a run stops at a tool that nobody knows, and goes on when somebody does',
  { tags: ['calls§6.5'] },
  async () => {
    const east = { tools: [{ id: 't1', name: 'look', input: { place: 'east' } }] };
    const { home, go } = await setUp(says(east, { text: 'Fog.' }, { text: 'Fog again.' }));
    const options = { at: '@c1', calls: 9 };
    const stopped = await go(options);
    expect(stopped).toMatchObject({
      ended: 'tools',
      why: expect.stringContaining('look({"place":"east"})') as string,
    });
    const none = await go({ ...options, tools: [] });
    expect(none).toMatchObject({ ended: 'tools', branchId: stopped.branchId });
    const asked: unknown[] = [];
    const done = await go({
      ...options,
      tools: [
        { kind: 'recorded' },
        { kind: 'ask', ask: async (call) => (asked.push(call), null) },
        { kind: 'command', command: 'cat; echo; echo "$OPENAI_API_KEY$SEEN"; exit 3' },
      ],
      minds: { env: { PATH: process.env['PATH'], OPENAI_API_KEY: 'sk-secret-123', SEEN: 'seen' } },
    });
    expect(done).toMatchObject({ ended: 'done', branchId: stopped.branchId, calls: [{}, {}] });
    expect(asked).toEqual([{ id: 't1', name: 'look', arguments: '{"place":"east"}' }]);
    expect((await shown(home, done.branchId)).at(-2)).toEqual({
      role: 'tool',
      tool_call_id: 't1',
      content: '{"name":"look","arguments":{"place":"east"},"id":"t1"}\n\nseen',
      is_error: true,
    });
  },
);

test.each([
  ['calls', { calls: 1 }, [south('a'), south('b')]],
  ['tokens', { calls: 9, tokens: 20 }, [south('a'), south('b'), south('c')]],
  ['length', { calls: 9 }, [{ text: 'It is', reason: 'length' }]],
  ['refused', { calls: 9 }, [{ text: '', reason: 'content_filter' }]],
] as const)(
  'a run ends with %s, and can be continued',
  { tags: ['calls§6.4'] },
  async (ended, options, answers) => {
    const { go } = await setUp(says(...answers));
    const result = await go({ at: '@c1', ...options });
    expect(result).toMatchObject({ ended, error: null });
  },
);

test(
  'each try that fails is an attempt, a failure ends the run with its code, and the same run asks again',
  { tags: ['calls§6.4', 'calls§6.7'] },
  async () => {
    const { home, models, go } = await setUp((call, n, outgoing) => {
      if (n === 1) sendJson(outgoing, 429, { error: { message: 'slow down' } });
      else if (n === 2) sendJson(outgoing, 400, { error: { message: 'no' } });
      else sendAnswer(call, outgoing, { text: 'Yes.' });
    });
    const failed = await go({ at: '@c1' });
    expect(failed).toMatchObject({
      ended: 'failed',
      error: { code: 'E_MIND_REFUSED' },
      calls: [{ status: 'failed' }],
    });
    const done = await go({ at: '@c1' });
    expect(done).toMatchObject({ ended: 'done', branchId: failed.branchId });
    const { attempts } = await home.calls.list(branchRefOf(history, done.branchId), { from: done.branchId });
    expect(attempts.map(({ attemptId, status, httpStatus }) => [attemptId, status, httpStatus])).toEqual([
      ['r1.c1', 'failed', 429],
      ['r1.c1.try2', 'failed', 400],
      ['r1.c1.try3', 'answered', 200],
    ]);
    expect(models.calls).toHaveLength(3);
  },
);

test('a run that is cancelled records that its call was, and goes on later', async () => {
  const stop = new AbortController();
  const { home, go } = await setUp((call, n, outgoing) => {
    if (n === 1) stop.abort();
    else sendAnswer(call, outgoing, { text: 'Yes.' });
  });
  expect(await go({ at: '@c1', signal: stop.signal })).toMatchObject({ ended: 'cancelled' });
  expect(await home.calls.find(history, 'r1.c1')).toMatchObject({ status: 'cancelled' });
  expect(await go({ at: '@c1' })).toMatchObject({ ended: 'done' });
});

test(
  'wherever a run is killed, it ends with the same messages, and no recorded answer is paid for again',
  { tags: ['long', 'calls§6.7'] },
  async () => {
    const script = says(
      south('a'),
      { tools: [{ id: 'b', name: 'look', input: { place: 'north' } }] },
      { text: 'Done.' },
    );
    const whole = await setUp(script);
    const expected = await shown(whole.home, (await whole.go({ at: '@c1', calls: 9 })).branchId);
    expect(expected).toHaveLength(7);
    // Every place in a long run, every fourth elsewhere.
    for (let survived = 0; ; survived += sized(4, 1)) {
      const { home, models, go } = await setUp((call, _n, outgoing) => {
        const said = (call.asked?.['messages'] as unknown[]).length;
        sendAnswer(
          call,
          outgoing,
          said === 2
            ? south('a')
            : said === 4
              ? { tools: [{ id: 'b', name: 'look', input: { place: 'north' } }] }
              : { text: 'Done.' },
        );
      });
      let left = survived;
      const dying =
        <A extends unknown[], R>(act: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          if (left-- === 0) throw new Error('killed');
          return act(...args);
        };
      const mortal: Home = {
        ...home,
        submit: dying((command) => home.submit(command)),
        calls: {
          ...home.calls,
          startCallAtTip: dying((branch, call) => home.calls.startCallAtTip(branch, call)),
          finishCall: dying((branch, end) => home.calls.finishCall(branch, end)),
        },
      };
      const options = {
        run: 'r1',
        actor: 'ann',
        at: '@c1',
        calls: 9,
        mind: `openai:m-1@${models.url}`,
        minds: { env: {} },
      } as const;
      const died = await continueBranch(mortal, main, options).then(
        () => false,
        (error: unknown) => String(error).includes('killed'),
      );
      const result = await go({ at: '@c1', calls: 9 });
      expect(await shown(home, result.branchId)).toEqual(expected);
      const { attempts } = await home.calls.list(branchRefOf(history, result.branchId), {
        from: result.branchId,
      });
      expect(attempts.filter(({ status }) => status === 'answered')).toHaveLength(3);
      // A call whose answer was not recorded is asked again, and only that one.
      const lost = attempts.filter(({ status }) => status === 'unknown').length;
      expect(models.calls.length).toBeLessThanOrEqual(3 + lost);
      expect(lost).toBeLessThanOrEqual(1);
      if (!died) {
        expect(survived).toBeGreaterThan(9);
        return;
      }
    }
  },
);

test(
  'a run that is under way in one process is refused in another one, so that nobody pays twice',
  { tags: ['calls§6.7'] },
  async () => {
    let asked = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    let answer = (): void => undefined;
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    const { models, go } = await setUp(async (call, _n, outgoing) => {
      asked();
      await mayAnswer;
      sendAnswer(call, outgoing, { text: 'Done.' });
    });
    const first = go({ at: '@c1' });
    await isAsked;
    await expect(go({ at: '@c1' })).rejects.toMatchObject({ code: 'E_BUSY' });
    answer();
    const { branchId } = await first;
    expect(await go({ at: '@c1' })).toMatchObject({ branchId, ended: 'done' });
    expect(models.calls).toHaveLength(1);
  },
);

test(
  'a run that has begun is not given another mind or other parameters',
  { tags: ['calls§6.7'] },
  async () => {
    const { models, go } = await setUp(says({ text: 'Done.' }));
    await go({ at: '@c1', set: { temperature: 1 } });
    await expect(go({ at: '@c1', mind: 'offline' })).rejects.toMatchObject({ code: 'E_RUN_REUSED' });
    await expect(go({ at: '@c1', set: { temperature: 0 } })).rejects.toMatchObject({ code: 'E_RUN_REUSED' });
    expect(await go({ at: '@c1', set: { temperature: 1 } })).toMatchObject({ ended: 'done' });
    expect(models.calls).toHaveLength(1);
  },
);

test(
  'a run that has begun is not given another position or another name',
  { tags: ['calls§6.7'] },
  async () => {
    const { models, go } = await setUp(says({ text: 'Done.' }));
    await go({ at: '@c1', name: 'again' });
    for (const other of [{ at: '@c2' }, { at: '@c1', name: 'other' }, { name: 'main' }])
      await expect(go(other)).rejects.toMatchObject({ code: 'E_RUN_REUSED' });
    for (const same of [{ at: '@c1', name: 'again' }, { at: '@c1' }, {}])
      expect(await go(same)).toMatchObject({ ended: 'done' });
    expect(models.calls).toHaveLength(1);
  },
);

test(
  'a run that has begun is given more tools, and no others than answered in it',
  { tags: ['calls§6.7'] },
  async () => {
    const { models, go } = await setUp((call, n, outgoing) =>
      sendAnswer(
        call,
        outgoing,
        n === 3 ? { text: 'Done.' } : { tools: [{ id: `t${n}`, name: 'look', input: { pier: n } }] },
      ),
    );
    const answers = { kind: 'command', command: 'echo one ship' } as const;
    const begun = { at: '@c1', calls: 2, tools: [] };
    expect(await go(begun)).toMatchObject({ ended: 'tools' });
    expect(await go({ ...begun, tools: [answers] })).toMatchObject({ ended: 'calls' });
    for (const others of [
      [],
      [{ kind: 'recorded' }],
      [{ kind: 'command', command: 'echo two ships' }],
    ] as const)
      await expect(go({ ...begun, calls: 9, tools: others })).rejects.toMatchObject({ code: 'E_RUN_REUSED' });
    expect(models.calls).toHaveLength(2);
    expect(await go({ ...begun, calls: 9, tools: [{ kind: 'recorded' }, answers] })).toMatchObject({
      ended: 'done',
    });
    expect(models.calls).toHaveLength(3);
  },
);
