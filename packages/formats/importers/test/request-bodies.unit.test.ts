import { describe, expect, it } from 'vitest';
import { toOpenAIMessages } from '../src/index.ts';
import { record, sourceOf } from './in-memory.ts';

/*
 * One conversation as the requests of four APIs hold it: the model saw the system prompt first, then a question, a call with its
 * result, an answer and another question.
 */
const SYSTEM = 'You answer customers.';
const RESULT = 'at the depot';

const CHAT = {
  model: 'gpt-4o',
  messages: [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: 'Where is it?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call-1', type: 'function', function: { name: 'track', arguments: '{"n":7}' } }],
    },
    { role: 'tool', tool_call_id: 'call-1', content: RESULT },
    { role: 'assistant', content: 'In Leer.' },
    { role: 'user', content: 'And now?' },
  ],
};
const ANTHROPIC = {
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  system: SYSTEM,
  messages: [
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call-1', name: 'track', input: { n: 7 } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call-1', content: RESULT }] },
    { role: 'assistant', content: 'In Leer.' },
    { role: 'user', content: 'And now?' },
  ],
};
const RESPONSES = {
  model: 'gpt-5',
  instructions: SYSTEM,
  input: [
    { role: 'user', content: 'Where is it?' },
    { type: 'function_call', call_id: 'call-1', name: 'track', arguments: '{"n":7}' },
    { type: 'function_call_output', call_id: 'call-1', output: RESULT },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'In Leer.' }] },
    { role: 'user', content: 'And now?' },
  ],
};
const GEMINI = {
  generationConfig: { temperature: 0 },
  systemInstruction: { parts: [{ text: SYSTEM }] },
  contents: [
    { role: 'user', parts: [{ text: 'Where is it?' }] },
    { role: 'model', parts: [{ functionCall: { name: 'track', args: { n: 7 } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'track', response: { at: RESULT } } }] },
    { role: 'model', parts: [{ text: 'In Leer.' }] },
    { parts: [{ text: 'And now?' }] },
  ],
};

type Body = Readonly<Record<string, unknown>>;
const APIS: readonly (readonly [format: string, mapping: string, body: Body])[] = [
  ['openai-chat', 'openai-chat@1', CHAT],
  ['anthropic-messages', 'anthropic-messages@2', ANTHROPIC],
  ['openai-responses', 'openai-responses@2', RESPONSES],
  ['gemini', 'gemini@2', GEMINI],
];

const json = JSON.stringify;
/** How people have such a body in a file, and how many conversations that is. */
const WRAPPINGS: readonly (readonly [what: string, wrap: (body: Body) => string, count: number])[] = [
  ['alone', json, 1],
  ['indented', (body) => json(body, null, 2), 1],
  ['as the request of a log', (body) => json({ id: 7, request: body, response: { status: 200 } }), 1],
  ['as the body of a batch', (body) => json({ custom_id: 'a', method: 'POST', url: '/v1', body }), 1],
  ['deep in a log', (body) => json({ run: { request: body } }), 1],
  ['in a list', (body) => json([body, body]), 2],
  ['in a list of logs', (body) => json([{ request: body }, { request: body }]), 2],
  ['as lines', (body) => `${json(body)}\n${json(body)}\n`, 2],
  ['as lines of a batch', (body) => `${json({ body })}\r\n${json({ body })}`, 2],
  ['with a byte order mark', (body) => `\ufeff${json(body)}`, 1],
];

const imported = async (text: string, format = 'auto') =>
  (await record(sourceOf(text), { format })).map(({ working, payloads, report, treeHashes, commands }) => ({
    messages: toOpenAIMessages(working, payloads),
    format: report.mapping,
    treeHashes,
    commands,
  }));

const summary = (messages: readonly Readonly<Record<string, unknown>>[]): unknown[] =>
  messages.map(({ role, content, tool_calls: calls }) => [
    role,
    JSON.stringify(content ?? null).includes(RESULT) ? RESULT : textIn(content),
    Array.isArray(calls) ? (calls as { readonly id: string }[]).map(({ id }) => id) : [],
  ]);

const textIn = (content: unknown): unknown => {
  const [part] = Array.isArray(content) ? (content as { readonly text?: string }[]) : [];
  return part?.text ?? content ?? null;
};

describe.each(APIS)('a request of %s', { tags: ['context-tree§9'] }, (format, mapping, body) => {
  it('is imported as what the model saw, the system prompt first, and what stands beside it is kept', async () => {
    const [found] = await imported(json(body));
    expect(found?.format).toBe(mapping);
    expect(summary(found?.messages ?? [])).toEqual([
      ['system', SYSTEM, []],
      ['user', 'Where is it?', []],
      ['assistant', null, ['call-1']],
      ['tool', RESULT, []],
      ['assistant', 'In Leer.', []],
      ['user', 'And now?', []],
    ]);
    // Two answers are two calls.
    expect(found?.treeHashes).toHaveLength(2);
    const [first] = found?.commands ?? [];
    expect(first?.steps[0]).toMatchObject({ op: 'start', source: { format: mapping } });
    const { system: _s, messages: _m, instructions: _i, input: _in, ...others } = body;
    const { systemInstruction: _si, contents: _c, ...besides } = others;
    expect(first?.steps.find(({ op }) => op === 'insert')).toMatchObject({
      node: { data_conversation: besides },
    });
  });

  it.each(WRAPPINGS)('is the same conversation %s', async (_what, wrap, count) => {
    const [{ messages, treeHashes } = { messages: [], treeHashes: [] }] = await imported(json(body), format);
    const found = await imported(wrap(body));
    expect(found.map((one) => [one.format, one.messages.length])).toEqual(
      Array.from({ length: count }, () => [mapping, messages.length]),
    );
    for (const one of found) {
      expect(summary(one.messages)).toEqual(summary(messages));
      expect(one.treeHashes).toHaveLength(treeHashes.length);
    }
  });

  it.each([
    ['in a list with something else', json([body, { n: 1 }]), 'E_INPUT_SHAPE', 'item 1'],
    ['twice in an object', json({ before: body, after: body }), 'E_INPUT_SHAPE', 'several'],
    ['cut', json(body).slice(0, -20), 'E_INPUT_TRUNCATED', 'the file'],
    ['with a line that is cut', `${json(body)}\n${json(body).slice(0, -20)}`, 'E_INPUT_TRUNCATED', 'line 2'],
    [
      'with a line that is one message',
      `${json(body)}\n{"role":"user","content":"x"}`,
      'E_INPUT_SHAPE',
      'line 2',
    ],
  ])('is refused with the place %s', async (_what, text, code, place) => {
    await expect(imported(text)).rejects.toMatchObject({ code, message: expect.stringContaining(place) });
  });
});

describe('requests as programs write them', { tags: ['context-tree§9'] }, () => {
  it.each([
    [
      'of Anthropic, with a system prompt of blocks',
      { system: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }], messages: [] },
      [{ role: 'system', content: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }] }],
    ],
    [
      'of Gemini, as its library for Python writes them',
      { system_instruction: SYSTEM, contents: 'Hi.' },
      [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: 'Hi.' },
      ],
    ],
    [
      'of Responses, with a text',
      { model: 'gpt-5', instructions: SYSTEM, input: 'Hi.' },
      [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: 'Hi.' },
      ],
    ],
    [
      'of the chat API with a note called system',
      { system: 'desk', messages: [{ role: 'tool', tool_call_id: 'a', content: 'x' }] },
      [{ role: 'tool', tool_call_id: 'a', content: 'x' }],
    ],
  ])('%s', async (_what, body, expected) => {
    const [found] = await imported(json(body));
    expect(JSON.parse(json(found?.messages))).toEqual(expected);
  });

  it('of several APIs stand in one file, each read as its own', async () => {
    const text = APIS.map(([, , body]) => json({ body })).join('\n');
    expect((await imported(text)).map(({ format }) => format)).toEqual(APIS.map(([, mapping]) => mapping));
  });

  it('are a log with what came back: the answer stays beside', async () => {
    const answer = { output: [{ type: 'message', role: 'assistant', content: [] }] };
    const [found] = await imported(json({ request: RESPONSES, response: answer }));
    expect(found?.format).toBe('openai-responses@2');
    expect(found?.messages).toHaveLength(6);
  });

  it.each([
    [
      'a role that the API does not have',
      { system: SYSTEM, messages: [{ role: 'bot', content: 'x' }] },
      'message 0',
    ],
    [
      'a system prompt that is a number',
      { systemInstruction: 7, contents: [{ parts: [] }] },
      'system instruction',
    ],
    ['a role that no API has', { contents: [{ role: 'bot', parts: [] }] }, 'message 0'],
  ])('are refused for %s, with the line', async (_what, body, place) => {
    const text = `${json(ANTHROPIC)}\n${json(body)}`;
    await expect(imported(text)).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^line 2, .*${place}`)),
    });
  });
});
