import { compareCodePoints } from '@stemma/canonical';
import { record, recordAnswer, recordCall, recordingFetch, recordingMiddleware } from '@stemma/recorder';
import { filesHolding, sendAnswer, sendJson } from '@stemma/test-kit';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, simulateReadableStream, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chatEvents } from '../proxy/scripted-upstream.ts';
import { openRecording } from './fixture.ts';

const KEYS = ['sk-proj-0penA1testKey', 'sk-ant-Anthr0picTestKey'] as const;

let at: ReturnType<typeof openRecording>;
beforeEach(() => {
  at = openRecording();
});
afterEach(() => at.close());

const question = (content: string) => ({ role: 'user', content }) as const;

describe('record', () => {
  test(
    'an OpenAI client answers as before, and its calls are recorded byte for byte',
    { tags: ['calls§7.4'] },
    async () => {
      const models = await at.provide((call, _, outgoing) => sendAnswer(call, outgoing, { text: 'Yes.' }));
      const calls = at.recorder({ url: await at.serve() });
      const client = new OpenAI({ apiKey: KEYS[0], baseURL: `${models.url}/v1` });
      const recorded = record(client, { calls, history: 'talk' });
      expect(recorded).toBeInstanceOf(OpenAI);
      expect(recorded).not.toBe(client);
      const messages: OpenAI.ChatCompletionMessageParam[] = [question('Is it so?')];
      const { choices } = await recorded.chat.completions.create({ model: 'm-1', messages });
      expect(choices[0]?.message.content).toBe('Yes.');
      messages.push({ role: 'assistant', content: 'Yes.' }, question('Really?'));
      await recorded.chat.completions.create({ model: 'm-1', messages, temperature: 0 });
      const { output_text: text } = await record(client, { calls, history: 'other' }).responses.create({
        model: 'm-1',
        input: 'Hello',
      });
      expect(text).toBe('Yes.');
      expect(await calls.flush()).toBe(true);
      expect(calls.status()).toMatchObject({ waiting: 0, recorded: 3, dropped: 0, lastError: null });
      const found = await at.recorded();
      expect(found.map(({ name, label, api, status }) => [name, label, api, status])).toEqual([
        ['talk', '@c1', 'openai.chat', 'answered'],
        ['talk', '@c2', 'openai.chat', 'answered'],
        ['other', '@c1', 'openai.responses', 'answered'],
      ]);
      expect(found.map(({ requestText }) => requestText)).toEqual(
        models.calls.map(({ body }) => body.toString()),
      );
      expect(found[1]).toMatchObject({ parameters: { temperature: 0 }, answer: { content: 'Yes.' } });
      expect(filesHolding(at.directory, [...KEYS])).toEqual([]);
    },
  );

  test(
    'a stream comes piece by piece, and is recorded as it came; whoever leaves it cancelled it',
    { tags: ['calls§7.4'] },
    async () => {
      const events = chatEvents(['One', ' two', ' three']);
      let release: () => void = () => undefined;
      const models = await at.provide(async (_, n, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write(events[0]);
        await new Promise<void>((resolve) => (release = resolve));
        if (n === 1) outgoing.end(events.slice(1).join(''));
      });
      const calls = at.recorder({ url: await at.serve() });
      const client = record(new OpenAI({ apiKey: KEYS[0], baseURL: `${models.url}/v1` }), { calls });
      const ask = (content: string) =>
        client.chat.completions.create({ model: 'm-1', stream: true, messages: [question(content)] });
      const texts: string[] = [];
      for await (const { choices } of await ask('Count')) {
        const text = choices[0]?.delta.content ?? '';
        texts.push(text);
        if (text === 'One') release();
      }
      expect(texts.join('')).toBe('One two three');
      for await (const _ of await ask('Count, and stop')) break;
      await calls.flush();
      const found = await at.recorded();
      expect(found.map(({ status, responseText }) => [status, responseText])).toEqual([
        ['answered', events.join('')],
        ['cancelled', events[0]],
      ]);
    },
  );

  test(
    'an Anthropic client is recorded, too: retries are attempts, with what the provider said',
    { tags: ['calls§7.4'] },
    async () => {
      const refusal = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      const models = await at.provide((call, n, outgoing) => {
        if (n === 1) sendJson(outgoing, 529, refusal, { 'retry-after-ms': '1' });
        else sendAnswer(call, outgoing, { text: 'Yes.' });
      });
      const calls = at.recorder({ url: await at.serve() });
      const client = record(new Anthropic({ apiKey: KEYS[1], baseURL: models.url }), {
        calls,
        history: 'claude',
      });
      const asked = { model: 'm-2', max_tokens: 10, system: 'Be brief.', messages: [question('Hi')] };
      const { content } = await client.messages.create(asked);
      expect(content).toMatchObject([{ type: 'text', text: 'Yes.' }]);
      await calls.flush();
      const found = await at.recorded();
      expect(
        found.map(({ label, api, status, httpStatus, error }) => [
          label,
          api,
          status,
          httpStatus,
          error?.code,
        ]),
      ).toEqual([
        ['@c1', 'anthropic.messages', 'failed', 529, 'overloaded_error'],
        ['@c1', 'anthropic.messages', 'answered', 200, undefined],
      ]);
      expect(filesHolding(at.directory, [...KEYS])).toEqual([]);
    },
  );

  test('a client of an unknown kind is returned as it is, and that is said', { tags: ['calls§7.4'] }, () => {
    const client = { chat: 1 };
    expect(record(client, { warn: (sentence) => void at.said.push(sentence) })).toBe(client);
    expect(at.said).toEqual([expect.stringContaining('recordingFetch')]);
  });
});

test(
  'recordingFetch gives what fetch gives: what is no call of a model, errors and addresses too',
  { tags: ['calls§7.4'] },
  async () => {
    const models = await at.provide((call, _, outgoing) => {
      if (call.path.includes('gone')) outgoing.destroy();
      else if (call.path.includes('models')) sendJson(outgoing, 200, { path: call.path });
      else {
        outgoing.setHeader('x-own', 'yes');
        sendAnswer({ ...call, path: '/v1/chat/completions' }, outgoing, { text: 'Yes.' });
      }
    });
    const calls = at.recorder({ url: await at.serve() });
    const fetching = recordingFetch({ calls });
    const plain = await fetching(`${models.url}/v1/models?key=QUERYKEY1`);
    expect(await plain.json()).toEqual({ path: '/v1/models?key=QUERYKEY1' });
    const url = `${models.url}/v1/chat/completions?key=QUERYKEY1`;
    const body = JSON.stringify({ model: 'm', messages: [question('Hi')] });
    const answered = await fetching(new URL(url), { method: 'POST', body });
    expect([answered.url, answered.headers.get('x-own'), answered.ok]).toEqual([url, 'yes', true]);
    expect(await answered.clone().json()).toEqual(await answered.json());
    const whole = await fetching(new Request(url, { method: 'POST', body }));
    expect(await whole.json()).toMatchObject({ model: 'm' });
    const gone = `${models.url}/gone/v1/chat/completions`;
    await expect(fetching(gone, { method: 'POST', body })).rejects.toThrow('fetch failed');
    const signal = AbortSignal.abort();
    await expect(fetching(url, { method: 'POST', body, signal })).rejects.toThrow(/abort/);
    await calls.flush();
    const found = await at.recorded();
    expect(found.filter(({ requestText }) => requestText === body)).toHaveLength(4);
    expect(found.map(({ status }) => status).sort(compareCodePoints)).toEqual([
      'answered',
      'answered',
      'cancelled',
      'failed',
    ]);
    expect(filesHolding(at.directory, ['QUERYKEY1'])).toEqual([]);
  },
);

test(
  'calls that a program says itself are recorded with tools, tokens and errors',
  { tags: ['calls§7.3'] },
  async () => {
    const calls = at.recorder({ url: await at.serve() });
    const options = { calls, history: 'said' };
    const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
    const messages: object[] = [question('Look.')];
    const first = recordCall({ messages, model: 'local', tools, parameters: { top_p: 1 } }, options);
    messages.push({ role: 'assistant', content: 'Seen.' });
    recordAnswer(first, { answer: 'Seen.', usage: { input: 5, output: 2 }, finishReason: 'stop' });
    recordAnswer(first, { error: 'too late' });
    const second = recordCall({ messages: [...messages, question('More.')], model: 'local' }, options);
    recordAnswer(second, { error: new Error('out of memory') });
    recordAnswer({ id: 'none' }, { answer: 'for nobody' });
    expect(recordCall({ messages: [() => undefined] as never }, options)).toEqual({ id: '' });
    await calls.flush();
    expect(await at.recorded()).toMatchObject([
      {
        ...{
          label: '@c1',
          api: 'other',
          model: 'local',
          status: 'answered',
          parameters: { top_p: 1 },
          tools,
        },
        ...{ usage: { input: 5, output: 2 }, answer: { role: 'assistant', content: 'Seen.' }, request: null },
      },
      { label: '@c2', status: 'failed', error: { code: 'Error', message: 'out of memory' } },
    ]);
  },
);

test('a call goes on from the answer that it names, whether its bytes say so, a program or the AI SDK', async () => {
  const url = await at.serve();
  const calls = at.recorder({ url });
  const ids = ['resp_wire_1', 'resp_wire_2'];
  const content = [{ type: 'output_text', text: 'Dry.' }];
  const models = await at.provide((_, _n, outgoing) => {
    const output = [{ type: 'message', role: 'assistant', content }];
    const response = { object: 'response', id: ids.shift(), status: 'completed', model: 'm', output };
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(response));
  });
  const fetched = recordingFetch({ calls, history: 'wire' });
  const ask = async (body: object): Promise<void> => {
    const sent = { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) };
    await (await fetched(`${models.url}/v1/responses`, sent)).text();
    await calls.flush();
  };
  await ask({ input: 'Is pier 1 dry?' });
  await ask({ input: 'And pier 2?', previous_response_id: 'resp_wire_1' });
  const options = { calls, history: 'said' };
  const first = recordCall({ messages: [question('Is pier 1 dry?')] }, options);
  recordAnswer(first, { answer: 'Dry.', answerId: 'resp_said_1' });
  await calls.flush();
  const parameters = { previous_response_id: 'resp_said_1' };
  recordAnswer(recordCall({ messages: [question('And pier 2?')], parameters }, options), { answer: 'Wet.' });
  await calls.flush();
  const usage = { inputTokens: { total: 7 }, outputTokens: { total: 3 } } as never;
  const mock = new MockLanguageModelV3({
    doGenerate: async () => ({
      content: [{ type: 'text', text: 'Dry.' }],
      ...{ finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] },
      providerMetadata: { openai: { responseId: 'resp_sdk_1' } },
    }),
  });
  const model = wrapLanguageModel({
    model: mock,
    middleware: recordingMiddleware({ calls, history: 'sdk' }),
  });
  await generateText({ model, prompt: 'Is pier 1 dry?' });
  await calls.flush();
  const providerOptions = { openai: { previousResponseId: 'resp_sdk_1' } };
  await generateText({ model, prompt: 'And pier 2?', providerOptions });
  await calls.flush();
  expect(at.said).toEqual([]);
  const found = await at.recorded();
  expect(found.map(({ label, match, notShown }) => [label, match, notShown])).toEqual(
    Array(3)
      .fill([
        ['@c1', 'started', null],
        ['@c2', 'appended', null],
      ])
      .flat(),
  );
});

describe('recordingMiddleware', () => {
  const usage = {
    inputTokens: { total: 7, noCache: 5, cacheRead: 2, cacheWrite: undefined },
    outputTokens: { total: 3, text: 3, reasoning: undefined },
  };
  const finishReason = { unified: 'stop', raw: 'end' } as const;

  test(
    'a model of the AI SDK is recorded whatever its provider is, generated and streamed',
    { tags: ['calls§7.3'] },
    async () => {
      const mock = new MockLanguageModelV3({
        modelId: 'mock-1',
        doGenerate: async () => ({
          content: [{ type: 'text', text: 'Generated.' }],
          ...{ finishReason, usage, warnings: [] },
        }),
        doStream: async () => ({
          stream: simulateReadableStream({
            chunks: [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: 'Str' },
              { type: 'text-delta', id: 't', delta: 'eamed.' },
              { type: 'text-end', id: 't' },
              { type: 'finish', finishReason, usage },
            ],
          }),
        }),
      });
      const calls = at.recorder({ url: await at.serve() });
      const model = wrapLanguageModel({
        model: mock,
        middleware: recordingMiddleware({ calls, history: 'sdk' }),
      });
      const { text } = await generateText({ model, system: 'Be brief.', prompt: 'Hi', temperature: 0 });
      expect(text).toBe('Generated.');
      const messages = [
        question('Hi'),
        { role: 'assistant', content: 'Generated.' } as const,
        question('More'),
      ];
      const streamed = streamText({ model, system: 'Be brief.', messages });
      let all = '';
      for await (const piece of streamed.textStream) all += piece;
      expect(all).toBe('Streamed.');
      await calls.flush();
      expect(await at.recorded()).toMatchObject([
        {
          ...{ label: '@c1', model: 'mock-1', status: 'answered', match: 'started', finishReason: 'end' },
          ...{ parameters: { temperature: 0 }, usage: { input: 7, output: 3, cached: 2 } },
          answer: { role: 'assistant', content: 'Generated.' },
        },
        { label: '@c2', match: 'appended', answer: { role: 'assistant', content: 'Streamed.' } },
      ]);
    },
  );

  test(
    'tools, files, reasoning and errors of the AI SDK are recorded, and thrown as before',
    { tags: ['calls§7.3'] },
    async () => {
      const refusal = new Error('no such model');
      const mock = new MockLanguageModelV3({ doGenerate: () => Promise.reject(refusal) });
      const calls = at.recorder({ url: await at.serve() });
      const { wrapGenerate } = recordingMiddleware({ calls, history: 'sdk' });
      const prompt = [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2]) },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { at: 1 } },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'look',
              output: { type: 'json', value: { seen: 2 } },
            },
          ],
        },
      ];
      const tools = [
        { type: 'function', name: 'look', description: 'Looks.', inputSchema: { type: 'object' } },
      ];
      const asked = {
        doGenerate: async () => mock.doGenerate({ prompt: [] }),
        params: { prompt, tools },
        model: mock,
      };
      await expect(wrapGenerate(asked)).rejects.toBe(refusal);
      await calls.flush();
      const [found] = await at.recorded();
      expect(found).toMatchObject({
        status: 'failed',
        error: { message: 'no such model' },
        tools: [
          {
            type: 'function',
            function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
          },
        ],
      });
    },
  );
});
