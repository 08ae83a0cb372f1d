import type { Home } from '@stemma/home';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Script } from './scripted-upstream.ts';
import { openSteeredProxy, type SteeredProxy } from './steered-proxy.ts';

type Json = Readonly<Record<string, unknown>>;

/** Says one word, in the form of the API that is called. */
const oneWord: Script = ({ url }, outgoing) => {
  const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 };
  const answer = url.endsWith('/responses')
    ? {
        ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'm-1', usage },
        output: [
          {
            ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
            content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
          },
        ],
      }
    : {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm-1', usage },
        ...{ stop_reason: 'end_turn', stop_sequence: null, content: [{ type: 'text', text: 'Yes.' }] },
      };
  outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
};

let proxy: SteeredProxy;
let upstream: SteeredProxy['upstream'];
let gateway: SteeredProxy['gateway'];
let home: Home;
beforeEach(async () => {
  proxy = await openSteeredProxy(oneWord);
  ({ upstream, gateway, home } = proxy);
});
afterEach(() => proxy[Symbol.asyncDispose]());

const call = async (path: string, body: Json): Promise<void> => {
  const response = await fetch(`${gateway.url}/proxy/steer/history/talk/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
};
const submit = async (...steps: Parameters<Home['submit']>[0]['steps']): Promise<void> => {
  const { history, branchId } = await home.find('talk');
  const id = crypto.randomUUID();
  await home.submit({ id, history, branchId, by: { actor: 'ada' }, notes: 'a test', steps });
};
const idOf = async (content: string): Promise<string> => {
  const { tree, payloads } = await home.read.view(await home.position(await home.find('talk')));
  const index = tree.payloads.findIndex((ref) => ref !== null && payloads(ref)['content'] === content);
  expect(index, content).toBeGreaterThanOrEqual(0);
  return tree.ids[index] as string;
};
const sent = (n: number): Json => JSON.parse(upstream.received[n]?.body.toString() ?? '{}') as Json;

/** The recorded bytes are those that came and those that went. */
const keepsBytes = async (came: Json): Promise<void> => {
  await gateway.drained(10_000);
  const branch = await home.find('talk');
  const { attempts } = await home.calls.list(branch);
  const { attemptId = '', history = branch.history } = { ...attempts.at(-1) };
  const [before, after] = [
    await home.calls.body(history, attemptId, 'came'),
    await home.calls.body(history, attemptId, 'request'),
  ];
  expect(Buffer.from(before).toString()).toBe(JSON.stringify(came));
  expect(Buffer.from(after).equals(upstream.received.at(-1)?.body as Buffer)).toBe(true);
  const { steered } = await home.calls.find(history, attemptId);
  expect(steered?.changes.map(({ what }) => what).toSorted()).toEqual(['inserted', 'replaced']);
};

test(
  'a call of the Responses API goes out with what an observer injects and replaces, in the form of that API',
  { tags: ['calls§5.2'] },
  async () => {
    const said = (role: string, content: string): Json => ({ role, content });
    const first = { model: 'm-1', instructions: 'Be brief.', input: [said('user', 'Is it open?')] };
    await call('openai/responses', first);
    await submit({ op: 'inject', text: 'Mind the holidays.' });
    await submit({ op: 'replace', id: await idOf('Be brief.'), set: { content: 'Be kind.' } });
    const answer: Json = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
    };
    const second = { ...first, input: [...first.input, answer, said('user', 'And on Sunday?')] };
    await call('openai/responses', second);
    expect(sent(1)['instructions']).toBe('Be kind.');
    const input = sent(1)['input'] as Json[];
    expect(input.slice(0, 3)).toEqual(second.input);
    expect(input).toHaveLength(4);
    expect(input[3]).toMatchObject({ role: 'user' });
    expect(JSON.stringify(input[3])).toContain('Mind the holidays.');
    await keepsBytes(second);
  },
);

test(
  'a call of the Messages API goes out with what an observer injects and replaces: roles still take turns',
  { tags: ['calls§5.2'] },
  async () => {
    const said = (role: string, content: string): Json => ({ role, content });
    const first = {
      ...{ model: 'm-1', max_tokens: 9, system: 'Be brief.' },
      messages: [said('user', 'Is it open?')],
    };
    await call('anthropic/v1/messages', first);
    await submit({ op: 'inject', text: 'Mind the holidays.' });
    await submit({ op: 'replace', id: await idOf('Be brief.'), set: { content: 'Be kind.' } });
    const second = {
      ...first,
      messages: [...first.messages, said('assistant', 'Yes.'), said('user', 'And on Sunday?')],
    };
    await call('anthropic/v1/messages', second);
    expect(JSON.stringify(sent(1)['system'])).toContain('Be kind.');
    const messages = sent(1)['messages'] as Json[];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(messages.slice(0, 2)).toEqual(second.messages.slice(0, 2));
    const last = JSON.stringify(messages[2]);
    expect(last.indexOf('And on Sunday?')).toBeGreaterThan(0);
    expect(last.indexOf('Mind the holidays.')).toBeGreaterThan(last.indexOf('And on Sunday?'));
    await keepsBytes(second);
  },
);
