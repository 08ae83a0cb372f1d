import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { toOpenAIMessages } from '@stemma/importers';
import type { UnresolvedStep } from '@stemma/queries';
import { sendAnswer, sendJson, startModels, type ModelScript } from '@stemma/test-kit';
import { afterEach, expect, test } from 'vitest';
import { retryCall, type RetriedCall, type RetryOptions } from '../src/index.ts';
import { history, main, MESSAGES, openTalk, requestOf, temporaryFolder } from './talk-home.ts';

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
  const again = async (options: Partial<RetryOptions>, ref = '@c2'): Promise<RetriedCall> =>
    retryCall(home, main, await home.position(main, ref), {
      run: 'q1',
      actor: 'ann',
      notes: 'Chance?',
      minds: [`openai:m-1@${models.url}`],
      ...options,
      surroundings: { env: {}, sleep: async () => undefined },
    });
  return { home, models, again };
};

const shown = async (home: Home, branchId: number) => {
  const { tree, payloads, thread } = await home.read.view(
    await home.position(branchRefOf(history, branchId)),
  );
  return toOpenAIMessages(tree, payloads, thread);
};

const look = (place: string) => ({ tools: [{ id: 'n', name: 'look', input: { place } }] });

test(
  'a call that is asked again unchanged sends the recorded bytes, and each answer is a named fork of one call',
  { tags: ['calls§6.6'] },
  async () => {
    const { home, models, again } = await setUp((call, n, outgoing) =>
      sendAnswer(call, outgoing, look(n === 2 ? 'west' : 'south')),
    );
    const result = await again({ times: 3, parallel: 1 });
    for (const { body } of models.calls) expect(body.equals(requestOf(MESSAGES.slice(0, 4)))).toBe(true);
    expect(models.calls).toHaveLength(3);
    expect(result.first).toMatchObject({ attempt: { attemptId: 'call-2' }, toolCalls: [{ name: 'look' }] });
    expect(result.answers.map(({ name, isSameTools, request }) => [name, isSameTools, request])).toEqual([
      ['retry-c2-q1-1', true, 'recorded'],
      ['retry-c2-q1-2', false, 'recorded'],
      ['retry-c2-q1-3', true, 'recorded'],
    ]);
    expect(result.sameTools).toEqual({ count: 2, of: 3 });
    for (const { branchId, attempt } of result.answers) {
      const fork = branchRefOf(history, branchId);
      const own = (await home.calls.list(fork, { from: branchId })).attempts.filter(
        (one) => one.branchId === branchId,
      );
      expect([attempt]).toMatchObject(own);
      expect((await shown(home, branchId)).slice(0, 4)).toEqual(MESSAGES.slice(0, 4));
      expect(await shown(home, branchId)).toHaveLength(5);
    }
    expect((await home.calls.list(main)).attempts).toHaveLength(3);
    const { interventions } = await home.queries.audit.interventions(main, { type: 'fork' }, {});
    expect(interventions).toMatchObject([{ notes: 'Chance?' }, { notes: 'Chance?' }, { notes: 'Chance?' }]);
    // The same run again asks nobody.
    expect((await again({ times: 3 })).answers.map(({ branch }) => branch)).toEqual(
      result.answers.map(({ branch }) => branch),
    );
    expect(models.calls).toHaveLength(3);
  },
);

test(
  'another parameter or model is set in the recorded body, and another API gets a body of its own',
  { tags: ['calls§6.6'] },
  async () => {
    const { home, models, again } = await setUp((call, _n, outgoing) =>
      sendAnswer(call, outgoing, { text: 'A ship.' }),
    );
    const result = await again({
      set: { temperature: 0, top_p: null },
      minds: [
        `openai:m-1@${models.url}`,
        `openai:m-2@${models.url}`,
        `anthropic:m-3@${models.url}`,
        'offline',
      ],
      parallel: 1,
    });
    expect(result.answers.map(({ request }) => request)).toEqual(['set', 'set', 'written', 'set']);
    const body = JSON.parse(requestOf(MESSAGES.slice(0, 4)).toString()) as object;
    expect(models.calls[0]?.asked).toEqual({ ...body, temperature: 0 });
    expect(models.calls[1]?.asked).toEqual({ ...body, temperature: 0, model: 'm-2' });
    expect(models.calls[2]).toMatchObject({
      path: '/v1/messages',
      asked: {
        model: 'm-3',
        temperature: 0,
        system: 'You look after a harbour.',
        tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
      },
    });
    expect(result.answers[2]).toMatchObject({ text: 'A ship.', isSameTools: false });
    expect(result.answers[3]).toMatchObject({ mind: 'offline', error: null });
    // In every API the request says what its thread says.
    expect(await home.operations.verify({ rows: 'all' })).toMatchObject({ ok: true, problems: [] });
  },
);

test(
  'steps and messages that the fork could not take are refused before there is one',
  { tags: ['calls§6.6'] },
  async () => {
    const { home, models, again } = await setUp((call, _n, outgoing) =>
      sendAnswer(call, outgoing, look('east')),
    );
    const before = (await home.read.history(history)).frames;
    const refused = (...steps: readonly UnresolvedStep[]) => again({ edit: { steps } });
    await expect(refused({ op: 'remove', id: 'nobody' })).rejects.toMatchObject({ code: 'E_NODE_NOT_FOUND' });
    await expect(refused({ op: 'inject', text: 'ok' }, { op: 'dance' })).rejects.toMatchObject({
      code: 'E_COMMAND_INVALID',
    });
    for (const message of [{ role: 'dancer', content: 'x' }, { content: 'x' }])
      await expect(again({ edit: { messages: [message] } })).rejects.toMatchObject({
        code: 'E_ROLE_UNKNOWN',
      });
    expect((await home.read.history(history)).frames).toBe(before);
    expect(models.calls).toHaveLength(0);
  },
);

test('what only the forks could refuse is refused before there is one', { tags: ['calls§6.6'] }, async () => {
  const { home, models, again } = await setUp((call, _n, outgoing) =>
    sendAnswer(call, outgoing, look('east')),
  );
  const insert = {
    op: 'insert',
    parent: 'ah',
    node: { id: 'mine', nodeType: 'cb', kind: 'text', role: 'user', content: 'ok' },
  };
  expect(await again({ edit: { steps: [insert] }, run: 'q2' })).toMatchObject({ answers: [{ error: null }] });
  const before = (await home.read.history(history)).frames;
  // Its id is taken, by a fork of the run before.
  await expect(again({ edit: { steps: [insert] }, run: 'q3' })).rejects.toMatchObject({
    code: 'E_NODE_EXISTS',
  });
  const other = { ...insert, node: { ...insert.node, id: 'other' } };
  await expect(again({ edit: { steps: [other] }, run: 'q3', times: 2 })).rejects.toMatchObject({
    code: 'E_NODE_EXISTS',
  });
  await expect(again({ run: 'q2', minds: ['offline'], times: 2 })).rejects.toMatchObject({
    code: 'E_RUN_REUSED',
  });
  expect((await home.read.history(history)).frames).toBe(before);
  await home.steering.set(main, true, { actor: 'ann', notes: 'a test' });
  const { tree } = await home.read.view(await home.position(main));
  const result = tree.headers.find(({ kind }) => kind === 'result');
  const half = { steps: [{ op: 'remove', id: result?.id }] };
  const steered = await home.position(main);
  await expect(
    retryCall(home, main, steered, { run: 'q4', actor: 'ann', edit: half, minds: ['offline'] }),
  ).rejects.toMatchObject({ code: 'E_TOOL_PAIR' });
  expect((await home.read.history(history)).frames).toBe(before + 1);
  expect(models.calls).toHaveLength(1);
});

test('a name that is taken is refused before there is any fork', { tags: ['calls§6.6'] }, async () => {
  const { home, models, again } = await setUp((call, _n, outgoing) =>
    sendAnswer(call, outgoing, look('east')),
  );
  await again({ name: 'east-2' });
  await again({ name: 'east', run: 'q2' });
  const before = (await home.read.history(history)).frames;
  await expect(again({ name: 'east', run: 'q3', times: 2 })).rejects.toMatchObject({ code: 'E_NAME_TAKEN' });
  await expect(again({ name: 'east-2', run: 'q4', times: 1 })).rejects.toMatchObject({
    code: 'E_NAME_TAKEN',
  });
  expect((await home.read.history(history)).frames).toBe(before);
  expect(await again({ name: 'east', run: 'q2' })).toMatchObject({ answers: [{ name: 'east-1' }] });
  expect(models.calls).toHaveLength(2);
});

test(
  'edited messages are what the fork shows and what is sent, and so are steps',
  { tags: ['calls§6.6'] },
  async () => {
    const { home, models, again } = await setUp((call, _n, outgoing) =>
      sendAnswer(call, outgoing, { text: 'Only at the north pier.' }),
    );
    const messages = [
      MESSAGES[0],
      { role: 'user', content: 'Is there a ship anywhere?' },
      ...MESSAGES.slice(2, 6),
    ];
    const edited = await again({ edit: { messages } }, '@c3');
    expect(models.calls[0]?.asked?.['messages']).toEqual(messages);
    const [answer] = edited.answers;
    expect(answer).toMatchObject({ request: 'written', isSameText: false, error: null });
    expect(answer?.differences).toEqual([
      { kind: 'same', text: 'Only at the ' },
      { kind: 'removed', text: 'south' },
      { kind: 'added', text: 'north' },
      { kind: 'same', text: ' pier.' },
    ]);
    expect(await shown(home, answer?.branchId ?? 0)).toEqual([
      ...messages,
      { role: 'assistant', content: 'Only at the north pier.' },
    ]);
    expect(await again({ edit: { messages } }, '@c3')).toMatchObject({
      answers: [{ branch: answer?.branch }],
    });
    const stepped = await again(
      { run: 'q2', edit: { steps: [{ op: 'inject', text: 'Answer in one word.', role: 'user' }] } },
      '@c3',
    );
    expect(models.calls[1]?.asked?.['messages']).toEqual([
      ...MESSAGES.slice(0, 6),
      { role: 'user', content: 'Answer in one word.' },
    ]);
    expect(models.calls).toHaveLength(2);
    expect(stepped.answers).toMatchObject([{ attempt: { status: 'answered' } }]);
  },
);

test('an answer that does not come is in its place, and what cannot be asked is refused before anything is recorded', async () => {
  const { home, again, models } = await setUp((call, n, outgoing) => {
    if (n === 1) sendJson(outgoing, 400, { error: { message: 'no' } });
    else sendAnswer(call, outgoing, { text: 'Yes.' });
  });
  const result = await again({ times: 2, parallel: 1 });
  expect(result.answers).toMatchObject([
    { error: { code: 'E_MIND_REFUSED' }, attempt: { status: 'failed' }, isSameTools: null },
    { error: null, attempt: { status: 'answered' }, isSameTools: false },
  ]);
  expect(result.sameTools).toEqual({ count: 0, of: 1 });
  const { frames } = await home.read.history(history);
  for (const bad of [{ set: { model: 'x' } }, { minds: ['nobody'] }, { times: 0 }, { run: 'a b' }])
    await expect(again({ run: 'q3', ...bad })).rejects.toMatchObject({
      code: expect.stringMatching(/E_USAGE|E_MIND_INVALID/) as string,
    });
  expect((await home.read.history(history)).frames).toBe(frames);
  expect(models.calls).toHaveLength(2);
});

test(
  'a call goes to another host than it went to only if somebody names it: else nothing is sent, and nothing recorded',
  { tags: ['calls§6.8'] },
  async () => {
    const { home, models } = await setUp((call, _, outgoing) => sendAnswer(call, outgoing, look('south')));
    const origin = new URL(models.url).origin;
    const messages = [{ role: 'user', content: 'Where is the ship?' }];
    const called = async (id: string, from: string | null): Promise<void> => {
      const sent = { at: 1, origin: from, path: '/v1/chat/completions', contentType: null, coding: null };
      const request = Buffer.from(JSON.stringify({ model: 'm-1', messages }));
      await home.submit({
        id: `${id}.s`,
        history: id,
        branchId: 0,
        by: { recorder: 'r' },
        steps: [{ op: 'start', name: id }],
      });
      await home.calls.recordCall(branchRefOf(id, 0), {
        ...{ id, by: { recorder: 'r' }, messages },
        facts: { api: 'openai.chat', model: 'm-1', parameters: {}, tools: null, request, sent },
      });
    };
    await called('elsewhere', 'http://10.1.2.3:8000');
    await called('here', origin);
    await called('unknown', null);
    const again = async (id: string, env: Record<string, string>, minds: readonly string[] = []) =>
      retryCall(home, branchRefOf(id, 0), await home.position(branchRefOf(id, 0), '@c1'), {
        ...{ run: 'q', actor: 'ann', minds, surroundings: { env, sleep: async () => undefined } },
      });
    const usual = { OPENAI_BASE_URL: models.url };
    for (const [id, mind] of [['elsewhere'], ['unknown'], ['elsewhere', 'openai:m-1']] as const) {
      await expect(again(id, usual, mind === undefined ? [] : [mind])).rejects.toMatchObject({
        code: 'E_MIND_ELSEWHERE',
        message: expect.stringContaining(`openai:m-1@${models.url}`) as string,
      });
      expect((await home.read.history(id)).branches).toHaveLength(1);
    }
    // Whoever has no key, as nobody needs one for a server of one's own, learns of the host and not of a key.
    await expect(again('elsewhere', {})).rejects.toMatchObject({
      code: 'E_MIND_ELSEWHERE',
      message: expect.stringContaining('https://api.openai.com') as string,
    });
    expect(models.calls).toEqual([]);
    // The host that it went to; one that a variable of Stemma's own or the mind names; a model where no host is recorded.
    await again('here', usual);
    await again('elsewhere', { STEMMA_UPSTREAM_OPENAI: models.url });
    await again('unknown', usual, ['openai:m-1']);
    expect(models.calls).toHaveLength(3);
    const { attempts } = await home.calls.list(branchRefOf('here', 0));
    expect(attempts).toMatchObject([{ origin, path: '/v1/chat/completions', at: 1 }]);
  },
);
