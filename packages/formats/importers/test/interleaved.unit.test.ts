import type { FlatTree } from '@stemma/context-tree';
import { NODE_KIND } from '@stemma/context-tree';
import { describe, expect, it } from 'vitest';
import { isFailedBlock } from '@stemma/model-apis';
import { threadBlocks, toOpenAIMessages } from '../src/index.ts';
import { record, sourceOf, type Recorded } from './in-memory.ts';

const imported = async (body: unknown, format = 'auto'): Promise<Recorded> => {
  const [found] = await record(sourceOf(JSON.stringify(body)), { format });
  if (found === undefined) throw new Error('no conversation');
  return found;
};

const importedAsChat = (body: unknown): Promise<Recorded> => imported(body, 'openai-chat');

/** What the blocks of the last snapshot are, in the order of the thread. */
const blocksOf = ({ working, payloads }: Recorded): string[] =>
  threadBlocks(working, payloads).map(({ kind, payload: { content } }) => {
    if (typeof content === 'string') return content;
    const { id, type, thinking, data, summary, refusal } = content as Record<string, unknown>;
    return kind === 'call'
      ? `call ${String(id)}`
      : [type, thinking ?? data ?? refusal ?? JSON.stringify(summary ?? id ?? null)].join(' ');
  });

const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const done = (id: string, more = {}) => ({ type: 'tool_result', tool_use_id: id, content: 'dry', ...more });

const ANTHROPIC = {
  system: 'You run a harbour.',
  messages: [
    { role: 'user', content: 'Check.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'two first', signature: 'c2ln' },
        { type: 'text', text: 'I look.' },
        call('a'),
        call('b'),
        { type: 'redacted_thinking', data: 'ZW5j' },
        call('c'),
        { type: 'text', text: 'So much.' },
      ],
    },
    { role: 'user', content: [done('a'), done('b', { is_error: true }), done('c')] },
  ],
};
const item = (id: string, number: number) => ({
  ...{ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'look' },
  ...{ arguments: `{"pier":${number}}`, status: 'completed' },
});
const RESPONSES = {
  model: 'gpt-x',
  instructions: 'You run a harbour.',
  input: [
    { role: 'user', content: 'Check.' },
    { type: 'reasoning', id: 'rs_1', summary: ['two first'], encrypted_content: 'gAAA1' },
    item('a', 1),
    item('b', 2),
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAA2' },
    item('c', 3),
    { type: 'function_call_output', call_id: 'b', output: 'wet', status: 'incomplete' },
    { type: 'function_call_output', call_id: 'a', output: 'dry' },
  ],
};
const GEMINI = {
  contents: [
    { role: 'user', parts: [{ text: 'How deep?' }] },
    {
      role: 'model',
      parts: [
        { text: 'Both.', thought: true },
        { functionCall: { name: 'depth', args: { at: 1 } }, thoughtSignature: 'c2lnMQ==' },
        { text: 'And the other.', thoughtSignature: 'c2lnMw==' },
        { functionCall: { name: 'depth', args: { at: 2 }, willContinue: false } },
      ],
    },
    {
      role: 'user',
      turn: 7,
      parts: [
        { functionResponse: { name: 'depth', response: { m: 7 }, scheduling: 'SILENT' }, mark: 1 },
        { functionResponse: { name: 'depth', response: { m: 9 } } },
      ],
    },
    { role: 'model', parts: [{ text: '7 and 9.', thoughtSignature: 'c2lnMg==' }] },
  ],
};

describe('thinking and calls of tools in turn', { tags: ['context-tree§9'] }, () => {
  it('stand in the tree in the order in which Anthropic’s API has them', async () => {
    expect(blocksOf(await imported(ANTHROPIC)).slice(2, 9)).toEqual([
      'thinking two first',
      'I look.',
      'call a',
      'call b',
      'redacted_thinking ZW5j',
      'call c',
      'So much.',
    ]);
  });

  it('stand in the tree in the order in which OpenAI’s Responses have them', async () => {
    expect(blocksOf(await imported(RESPONSES)).slice(2, 8)).toEqual([
      'reasoning ["two first"]',
      'call a',
      'call b',
      'web_search_call "ws_1"',
      'reasoning []',
      'call c',
    ]);
  });

  it('stand in the tree in the order in which Gemini’s API has them', async () => {
    expect(blocksOf(await imported(GEMINI)).slice(1, 5)).toEqual([
      'Both.',
      'call call-1',
      'And the other.',
      'call call-2',
    ]);
  });

  it('stand behind each other as before where the mapping is that of the chat API', async () => {
    const messages = [
      { role: 'user', content: 'Check.' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' }, before: 1 }],
      },
    ];
    const found = await imported(messages);
    expect(blocksOf(found)).toEqual(['Check.', 'a', 'b', 'call c']);
    expect(found.report.mapping).toBe('openai-chat@1');
    expect(toOpenAIMessages(found.working, found.payloads)).toEqual(messages);
  });
});

describe('what a file says of a call or a result is kept', { tags: ['context-tree§9:nothing-lost'] }, () => {
  it('of Gemini: signatures of calls and texts, and every other field', async () => {
    const { working, payloads, report } = await imported(GEMINI);
    const named = (id: string, at: number) => ({
      ...{ id, type: 'function', function: { name: 'depth', arguments: `{"at":${at}}` } },
    });
    expect(toOpenAIMessages(working, payloads)).toEqual([
      { role: 'user', content: 'How deep?' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Both.', thought: true },
          { type: 'text', text: 'And the other.', thoughtSignature: 'c2lnMw==' },
        ],
        tool_calls: [
          { ...named('call-1', 1), part: { thoughtSignature: 'c2lnMQ==' }, before: 1 },
          { ...named('call-2', 2), part: { functionCall: { willContinue: false } } },
        ],
      },
      {
        ...{ role: 'tool', tool_call_id: 'call-1', name: 'depth', content: '{"m":7}' },
        part: { mark: 1, functionResponse: { scheduling: 'SILENT' } },
        message_fields: { turn: 7 },
      },
      { role: 'tool', tool_call_id: 'call-2', name: 'depth', content: '{"m":9}' },
      { role: 'assistant', content: [{ type: 'text', text: '7 and 9.', thoughtSignature: 'c2lnMg==' }] },
    ]);
    expect(report).toMatchObject({
      mapping: 'gemini@2',
      unknown: { 'field part': 1, 'field message_fields': 1 },
    });
  });

  it('of pages of the AI SDK: states, metadata and errors', async () => {
    const { working, payloads, report } = await importedAsChat([
      { id: '1', role: 'user', parts: [{ type: 'text', text: 'How deep?' }] },
      {
        id: '2',
        role: 'assistant',
        parts: [
          { type: 'tool-depth', toolCallId: 'c1', state: 'output-available', input: { at: 1 }, output: 7 },
          {
            ...{ type: 'dynamic-tool', toolName: 'tide', toolCallId: 'c2', state: 'output-error', input: {} },
            ...{ errorText: 'no tide', callProviderMetadata: { google: { thoughtSignature: 'c2ln' } } },
          },
          { type: 'text', text: '7 metres' },
        ],
      },
    ]);
    expect(report.mapping).toBe('openai-chat@2');
    expect(toOpenAIMessages(working, payloads).slice(1)).toEqual([
      {
        ...{ id: '2', role: 'assistant', content: null },
        tool_calls: [
          {
            ...{ id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"at":1}' } },
            part: { state: 'output-available' },
          },
          {
            ...{ id: 'c2', type: 'function', function: { name: 'tide', arguments: '{}' } },
            part: {
              state: 'output-error',
              callProviderMetadata: { google: { thoughtSignature: 'c2ln' } },
            },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', name: 'depth', content: '7' },
      { role: 'tool', tool_call_id: 'c2', name: 'tide', content: 'no tide', is_error: true },
      { role: 'assistant', content: '7 metres' },
    ]);
  });

  it('of messages for models of the AI SDK, whose calls and results are parts', async () => {
    const { working, payloads, report, treeHashes } = await importedAsChat([
      { role: 'user', content: [{ type: 'text', text: 'How deep?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Ask.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'depth', input: { at: 'pier 1' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            ...{ type: 'tool-result', toolCallId: 'c1', toolName: 'depth' },
            output: { type: 'error-json', value: { why: 'fog' } },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'I cannot say.' }] },
    ]);
    expect(treeHashes).toHaveLength(2);
    expect(report).toMatchObject({ mapping: 'openai-chat@2', read: { calls: 1 }, warnings: [] });
    expect(toOpenAIMessages(working, payloads).slice(1, 3)).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'reasoning', text: 'Ask.' }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"at":"pier 1"}' } },
        ],
      },
      {
        ...{ role: 'tool', tool_call_id: 'c1', name: 'depth', content: '{"why":"fog"}', is_error: true },
        part: { tool: { output: { type: 'error-json' } } },
      },
    ]);
  });

  it('of failed results: they are marked, whatever the API calls it', async () => {
    const failed = ({ working, payloads }: Recorded): unknown[] =>
      threadBlocks(working, payloads)
        .filter(({ role, payload }) => isFailedBlock(role, payload))
        .map(({ payload }) => payload['data_tool_call_id']);
    expect(failed(await imported(ANTHROPIC))).toEqual(['b']);
    expect(failed(await imported(RESPONSES))).toEqual(['b']);
    expect(failed(await imported(GEMINI))).toEqual([]);
  });
});

describe('what is recognised only in part is refused', { tags: ['context-tree§9'] }, () => {
  const INPUT = [{ role: 'user', content: 'How deep?' }];
  it.each([
    ['an observation', [{ model: 'gpt-x', input: INPUT, output: { role: 'assistant', content: '7' } }]],
    ['an observation without a model', { input: INPUT, output: '7 m' }],
    ['a run', { run: { input: INPUT, outputs: [{ text: '7 m' }] } }],
  ])('%s with an input and its output', async (_what, value) => {
    await expect(imported(value)).rejects.toMatchObject({
      code: 'E_INPUT_SHAPE',
      message: expect.stringContaining('an input and its output'),
    });
  });

  it('an input whose output is null is a request', async () => {
    expect((await imported({ model: 'm', input: INPUT, output: null })).report.mapping).toBe(
      'openai-responses@2',
    );
  });

  it('a request of Gemini with two system instructions, and a result of a role that there is not', async () => {
    const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
    await expect(
      imported({ systemInstruction: 'a', system_instruction: 'b', contents }),
    ).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
    const parts = [{ functionResponse: { name: 'f', response: {} } }];
    await expect(imported({ contents: [{ role: 'bot', parts }] })).rejects.toMatchObject({
      code: 'E_ROLE_UNKNOWN',
    });
  });
});

it('every block of an imported message is one of its parts or calls', async () => {
  for (const body of [ANTHROPIC, RESPONSES, GEMINI]) {
    const { working } = await imported(body);
    const blocks = (tree: FlatTree): number => tree.kinds.filter((kind) => kind === NODE_KIND.block).length;
    expect(blocks(working)).toBe(body === ANTHROPIC ? 12 : body === RESPONSES ? 10 : 8);
  }
});
