import { branchRefOf } from '@stemma/history-store';
import { historyId, type Step } from '@stemma/history';
import { type Home, openHome, temporaryHome } from '@stemma/test-kit/home';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';

const by = { recorder: 'agent' };
const history = historyId('talk', '');
const branch = branchRefOf(history, 0);
type Message = { readonly role: string; readonly content: unknown };
const s: Message = { role: 'system', content: 'You book "flights".' };
const u = (content: unknown): Message => ({ role: 'user', content });
const a = (content: unknown): Message => ({ role: 'assistant', content });

let at: ReturnType<typeof temporaryHome>;
let home: Home;
const open = async (more: object = {}): Promise<void> => {
  home = await openHome({ directory: at.directory, create: true, ...more });
  await home.submit({ id: 'start', history, branchId: 0, by, steps: [{ op: 'start', name: 'talk' }] });
};
beforeEach(() => {
  at = temporaryHome();
});
afterEach(async () => {
  await home.close();
  at[Symbol.dispose]();
});

type Api = 'openai.chat' | 'openai.responses' | 'anthropic.messages' | 'other';
const record = (
  id: string,
  messages: readonly Message[],
  body: unknown,
  {
    api = 'openai.chat',
    bytes = Buffer.from(JSON.stringify(body)),
  }: { api?: Api; bytes?: Uint8Array | null } = {},
) =>
  home.calls.recordCall(branch, {
    id,
    by,
    messages: messages as never,
    facts: { api, model: 'm', parameters: {}, tools: null, request: bytes },
  });
const verified = async () => {
  const { ok, calls, problems } = await home.operations.verify({ rows: 'all' });
  return { ok, calls, problems: problems.map(({ kind, history: of, message }) => [kind, of, message]) };
};

test(
  'requests of every API say the messages of their threads, and verify says for how many',
  { tags: ['calls§9.1'] },
  async () => {
    await open();
    const talk = [s, u('Berlin'), a('When?'), u('Monday')];
    await record('chat-1', talk.slice(0, 2), { model: 'm', messages: talk.slice(0, 2) });
    await record('chat-2', talk, { messages: talk, model: 'm' });
    // Clients move these marks.
    const marked = u([{ type: 'text', text: 'To Rome', cache_control: { type: 'ephemeral' } }]);
    await record(
      'anthropic',
      [s, u([{ type: 'text', text: 'To Rome' }])],
      { system: s.content, messages: [marked], max_tokens: 9 },
      { api: 'anthropic.messages' },
    );
    await record(
      'responses',
      [{ role: 'system', content: 'Be brief.' }, u('Oslo')],
      { instructions: 'Be brief.', input: 'Oslo' },
      { api: 'openai.responses' },
    );
    const zipped = gzipSync(JSON.stringify({ messages: [u('Zipped')] }));
    await record('zipped', [u('Zipped')], null, { bytes: zipped });
    expect(await verified()).toEqual({
      ok: true,
      calls: { checked: 5, compared: 5, notComparable: {} },
      problems: [],
    });
    expect((await home.operations.replay({ verify: true })).calls).toMatchObject({
      checked: 5,
      compared: 5,
      problems: [],
    });
  },
);

test(
  'a request that says something else is a problem that names call and message',
  { tags: ['calls§9.1'] },
  async () => {
    await open();
    const talk = [s, u('Berlin'), a('When?'), u('Monday')];
    await record('good', talk.slice(0, 2), { messages: talk.slice(0, 2) });
    await record('else', talk, { messages: [...talk.slice(0, 3), u('Tuesday')] });
    await record('more', [...talk, a('Booked')], { messages: talk });
    await record('less', [...talk, a('Booked'), u('Bye')], {
      messages: [...talk, a('Booked'), u('Bye'), a('!')],
    });
    await record('again', [...talk, a('Booked')], { messages: [...talk, a('Booked')] });
    expect(await verified()).toEqual({
      ok: false,
      calls: { checked: 5, compared: 2, notComparable: {} },
      problems: [
        [
          'call',
          history,
          'call @c2 (else): message 3 of the request says something else than that of the thread',
        ],
        ['call', history, 'call @c3 (more): message 4 of the thread is not in the request, which has 4'],
        ['call', history, 'call @c4 (less): message 6 of the request is not in the thread, which has 6'],
      ],
    });
    expect(await home.operations.replay({ verify: true })).toMatchObject({
      differences: 3,
      firstDifference: `${history}: call @c2 (else): message 3 of the request says something else than that of the thread`,
    });
  },
);

test(
  'a body without its recorded hash is a problem, of a request and of a response',
  { tags: ['calls§9.2'] },
  async () => {
    await open();
    await record('good', [u('Berlin')], { messages: [u('Berlin')] });
    const { position } = await home.submit({
      ...{ id: 'commit', history, branchId: 0, by, steps: [{ op: 'commit' }] },
    });
    const body = (sha256: string) => ({
      sha256,
      size: 2,
      base: null,
      pieces: [[2]],
      encoding: 'text' as const,
    });
    const wrong = 'ab'.repeat(32);
    const start: Step = {
      ...{ op: 'start_call', api: 'openai.chat', model: null, parameters: {}, tools: null, toolsAt: null },
      ...{ request: body(wrong), prompt: null, own: '{}' },
      position: { branchId: position.branchId, seq: position.seq },
    };
    await home.submit({ id: 'bad', history, branchId: 0, by, steps: [start] });
    await home.submit({
      ...{ id: 'good.finished', history, branchId: 0, by },
      steps: [
        {
          ...{
            op: 'finish_call',
            attemptId: 'good',
            status: 'answered',
            httpStatus: 200,
            finishReason: null,
          },
          ...{ model: null, usage: null, firstByteMs: null, durationMs: null, error: null, answer: null },
          ...{ response: body(wrong), own: '{}' },
        },
      ],
    });
    const { problems } = await verified();
    expect(problems).toEqual([
      ['call', history, `call @c1 (good): the pieces of a body do not have its hash ${wrong}`],
      ['call', history, `call @c2 (bad): the pieces of a body do not have its hash ${wrong}`],
    ]);
  },
);

test('what cannot be compared is counted, with the reason', { tags: ['calls§9.3'] }, async () => {
  await open();
  await record('none', [u('a')], null, { bytes: null });
  await record('other', [u('b')], {}, { api: 'other' });
  await record('garbage', [u('c')], null, { bytes: Buffer.from('{"messages":') });
  expect(await verified()).toEqual({
    ok: true,
    calls: {
      checked: 3,
      compared: 0,
      notComparable: {
        'no bytes of the request are recorded': 1,
        'no reader understood the request': 1,
        'the request cannot be read (E_INPUT_TRUNCATED)': 1,
      },
    },
    problems: [],
  });
});

test('a request of which secrets were taken out is no problem', { tags: ['calls§9.3'] }, async () => {
  await open({
    redact: { patterns: [{ name: 'badge', pattern: 'badge (\\w+)' }] },
  });
  const said = [u('My badge x42'), u([{ type: 'text', text: 'Hi', password: 'hunter2' }])];
  await record('same', said.slice(0, 1), { messages: said.slice(0, 1) });
  await record('other', said, { messages: said });
  const third = [...said, u('My badge x43')];
  await record('third', third, { messages: [...said, u('My badge x43, and what the rules made of it')] });
  const { ok, calls } = await verified();
  expect(ok).toBe(true);
  expect(calls).toEqual({
    checked: 3,
    compared: 2,
    notComparable: { 'secrets were taken out of it': 1 },
  });
});
