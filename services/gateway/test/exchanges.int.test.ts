import type { ExchangeRequest } from '@stemma/api';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';
import { chatAnswer, chatEvents } from './proxy/scripted-upstream.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-exchanges-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

const send = async (body: unknown): Promise<{ status: number; answer: Record<string, unknown> }> => {
  const response = await createGateway({ home }).request('/api/exchanges', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
};
const bodyOf = (...contents: string[]): string =>
  JSON.stringify({
    model: 'm-1',
    messages: contents.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content })),
  });
const exchange = (id: string, text: string, more: Partial<ExchangeRequest> = {}): ExchangeRequest => ({
  id,
  recorder: 'agent',
  request: { form: 'wire', method: 'POST', path: '/v1/chat/completions', body: { text } },
  end: {
    status: 'answered',
    first_byte_ms: 3,
    duration_ms: 9,
    error: null,
    response: {
      form: 'wire',
      http_status: 200,
      content_type: 'application/json',
      body: { text: chatAnswer('Hello') },
    },
  },
  ...more,
});

test(
  'an exchange is recorded as the proxy records it, byte for byte, and once however often it is sent',
  { tags: ['calls§7.2'] },
  async () => {
    const first = exchange('call-1', bodyOf('Grüße'), { history: 'talk' });
    const sent = await Promise.all([send(first), send(first), send(first)]);
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200]);
    await send(exchange('call-2', bodyOf('Grüße', 'Hello', 'More'), { history: 'talk' }));
    expect(await send(first)).toEqual(sent[0]);
    const branch = await home.find('talk');
    const { attempts } = await home.calls.list(branch);
    expect(attempts.map(({ attemptId, label, status, match }) => [attemptId, label, status, match])).toEqual([
      ['call-1', '@c1', 'answered', 'started'],
      ['call-2', '@c2', 'answered', 'appended'],
    ]);
    expect(attempts[0]).toMatchObject({ api: 'openai.chat', model: 'm-1', firstByteMs: 3, durationMs: 9 });
    const bytes = await home.calls.body(branch.history, 'call-1', 'request');
    expect(Buffer.from(bytes).toString()).toBe(bodyOf('Grüße'));
    const answered = await home.calls.body(branch.history, 'call-1', 'response');
    expect(Buffer.from(answered).toString()).toBe(chatAnswer('Hello'));
  },
);

test(
  'several exchanges are answered each as it would be alone, and a wrong one keeps no other out',
  { tags: ['calls§7.2'] },
  async () => {
    const batch = async (exchanges: readonly unknown[]) => {
      const response = await createGateway({ home }).request('/api/exchanges/batch', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ exchanges }),
      });
      const answer = (await response.json()) as { results: Record<string, unknown>[]; error?: object };
      return { status: response.status, ...answer };
    };
    const first = exchange('call-1', bodyOf('Hi'), { history: 'talk' });
    const second = exchange('call-2', bodyOf('Hi', 'Hello', 'More'), { history: 'talk' });
    const { status, results } = await batch([
      first,
      { ...first, id: 'bad', history: 'a b' },
      { id: 7 },
      second,
      first,
    ]);
    expect(status).toBe(200);
    expect(results.map((one) => [one['id'], one['status']])).toEqual([
      ['call-1', 200],
      ['bad', 400],
      ['', 400],
      ['call-2', 200],
      ['call-1', 200],
    ]);
    expect(results[1]).toMatchObject({ answer: null, error: { code: 'E_COMMAND_INVALID' } });
    expect(results[0]).toEqual({
      id: 'call-1',
      status: 200,
      error: null,
      answer: (await send(first)).answer,
    });
    const { attempts } = await home.calls.list(await home.find('talk'));
    expect(attempts.map(({ attemptId, match }) => [attemptId, match])).toEqual([
      ['call-1', 'started'],
      ['call-2', 'appended'],
    ]);
    expect((await batch([])).status).toBe(400);
    expect((await batch(Array.from({ length: 101 }, () => first))).status).toBe(400);
  },
);

test(
  'an exchange that nobody saw end is unknown, and gets its end when it is sent again with one',
  { tags: ['calls§7.2'] },
  async () => {
    const whole = exchange('call-1', bodyOf('Hi'), { history: 'talk' });
    await send({ ...whole, end: null });
    const states = async () =>
      (await home.calls.list(await home.find('talk'))).attempts.map(({ status }) => status);
    expect(await states()).toEqual(['unknown']);
    await send(whole);
    expect(await states()).toEqual(['answered']);
  },
);

test(
  'bytes that are no text come as base64; what a program says that it asked has no bytes',
  { tags: ['calls§7.3'] },
  async () => {
    const stream = chatEvents(['One', ' two']).join('');
    const base64 = Buffer.from(stream).toString('base64');
    const whole = exchange('call-1', bodyOf('Hi'), { history: 'talk' });
    await send({
      ...whole,
      end: {
        ...whole.end,
        response: {
          ...{ form: 'wire', http_status: 200, content_type: 'text/event-stream' },
          body: { base64 },
        },
      },
    });
    await send({
      id: 'call-2',
      history: 'said',
      request: {
        form: 'said',
        model: 'local',
        messages: [{ role: 'user', content: 'Hi' }],
        parameters: { temperature: 0 },
        tools: [{ type: 'function', function: { name: 'look' } }],
      },
      end: {
        ...{ status: 'answered', first_byte_ms: null, duration_ms: 4, error: null },
        response: {
          ...{ form: 'said', finish_reason: 'stop', usage: { input: 3, output: 4 } },
          answer: { role: 'assistant', content: 'Yes' },
        },
      },
    });
    const talk = await home.find('talk');
    expect(Buffer.from(await home.calls.body(talk.history, 'call-1', 'response')).toString()).toBe(stream);
    const said = await home.find('said');
    expect(await home.calls.find(said.history, 'call-2')).toMatchObject({
      ...{ api: 'other', model: 'local', status: 'answered', parameters: { temperature: 0 } },
      ...{
        answer: { role: 'assistant', content: 'Yes' },
        finishReason: 'stop',
        request: null,
        response: null,
      },
      usage: { input: 3, output: 4, cached: null },
    });
    const { thread } = await home.read.view(await home.position(said));
    expect(thread).not.toEqual([]);
  },
);

test.each([
  [{ ...exchange('c', '{}'), history: 'a', run: 'b' }, /one place/],
  [{ ...exchange('c', '{}'), history: 'a b' }, /a name has/],
  [
    { ...exchange('c', '{}'), request: { form: 'wire', method: 'POST', path: '/v1?key=1', body: null } },
    /no query/,
  ],
  [
    {
      ...exchange('c', '{}'),
      request: { form: 'wire', method: 'POST', path: '/v1', body: { base64: 'x*==' } },
    },
    /base64/,
  ],
  [
    {
      ...exchange('c', '{}'),
      request: { form: 'wire', method: 'POST', path: '/v1', body: { text: '\ud800' } },
    },
    /./,
  ],
  [
    {
      ...exchange('c', '{}'),
      request: { form: 'wire', method: 'POST', path: '/v1', headers: {}, body: null },
    },
    /headers/,
  ],
])(
  'an exchange that is not of the contract is refused, and nothing is recorded',
  { tags: ['calls§7.1'] },
  async (bad, reason) => {
    const { status, answer } = await send(bad);
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).toMatch(reason);
    expect(await home.read.histories()).toEqual([]);
  },
);

test(
  'a history that takes no call keeps none from being recorded, and the answer says so',
  { tags: ['calls§7.2'] },
  async () => {
    const { status, answer } = await send(exchange('call-1', bodyOf('Hi'), { history: ':nowhere' }));
    expect([status, answer['match']]).toEqual([200, 'started']);
    expect(answer['warning']).toMatch(/^:nowhere takes no calls .* among those of the run :nowhere$/);
  },
);

test(
  'a branch that is not there stands for its history, and the answer says so',
  { tags: ['calls§7.2'] },
  async () => {
    const first = await send(exchange('call-1', bodyOf('Hi'), { history: 'talk' }));
    expect(first.answer['warning']).toBe(null);
    const { answer } = await send(exchange('call-2', bodyOf('Hi', 'Yes', 'Go'), { history: 'talk:nowhere' }));
    expect(answer).toMatchObject({ history: first.answer['history'], branchId: 0, match: 'appended' });
    expect(answer['warning']).toBe(
      'the history talk has no branch "nowhere": the calls are recorded where their messages go on in talk',
    );
  },
);
