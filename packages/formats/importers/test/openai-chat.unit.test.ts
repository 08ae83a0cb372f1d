import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toOpenAIMessages } from '../src/openai-chat/to-openai-messages.ts';
import { anyMessage, type Json, type Message } from './any-message.ts';
import { record, sourceOf, type Recorded } from './in-memory.ts';

const runs = Number(process.env['STEMMA_RUNS'] ?? 150);

const only = async (text: string): Promise<Recorded> => {
  const [recorded] = await record(sourceOf(text, 1_000));
  if (recorded === undefined) throw new Error('no conversation was recorded');
  return recorded;
};

/** Every call was shown what stood before its message, and the working state is the whole list. */
const expectShown = ({ cycles, working, payloads }: Recorded, messages: readonly Message[]): void => {
  const calls = messages.flatMap((message, index) => (message['role'] === 'assistant' ? [index] : []));
  expect(cycles.map((tree) => toOpenAIMessages(tree, payloads))).toEqual(
    calls.map((end) => messages.slice(0, end)),
  );
  expect(toOpenAIMessages(working, payloads)).toEqual(messages);
};

const call = (id: string): Json => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{"a": 1}' },
});

describe('openai-chat@1', () => {
  it.each<[string, Message[]]>([
    [
      'an assistant message at the head',
      [
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: 'Hi' },
      ],
    ],
    [
      'two assistant messages in a row',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'assistant', content: 'c' },
      ],
    ],
    [
      'system messages at the head, in the middle and at the end',
      [
        { role: 'system', content: 'one' },
        { role: 'developer', content: 'two' },
        { role: 'user', content: 'three' },
        { role: 'system', content: 'four' },
        { role: 'assistant', content: 'five' },
        { role: 'system', content: 'six' },
      ],
    ],
    [
      'only system messages',
      [
        { role: 'system', content: 'a' },
        { role: 'system', content: 'b' },
      ],
    ],
    ['no messages', []],
    [
      'content null, absent, empty text and empty list, with and without calls',
      [
        ...[{ content: null }, {}, { content: '' }, { content: [] }].flatMap((content) => [
          { role: 'assistant', ...content },
          { role: 'assistant', ...content, tool_calls: [call('x'), call('y')] },
          { role: 'tool', tool_call_id: 'x', ...content },
          { role: 'user', ...content },
        ]),
      ],
    ],
    [
      'parts of every kind',
      [
        {
          role: 'user',
          name: 'ada',
          content: [
            { type: 'text', text: 'look' },
            { type: 'text', text: 'cached', cache_control: { type: 'ephemeral' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            'a bare text',
            null,
            7,
            [],
            { type: 'text', text: null },
            { type: 'text' },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'refusal', refusal: 'no' }],
          refusal: 'no',
          audio: { id: 'a' },
        },
      ],
    ],
    [
      'calls as they were written before and after they were called tools',
      [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: '1' },
        {
          role: 'assistant',
          content: 'both',
          function_call: { name: 'f', arguments: '' },
          tool_calls: [call('z')],
        },
        { role: 'assistant', tool_calls: [], function_call: null },
        { role: 'assistant', tool_calls: null, content: 'x' },
        { role: 'assistant', tool_calls: [null, 'odd', 3] },
        { role: 'tool', tool_call_id: null, name: 5, content: ['x'], tool_calls: [call('w')] },
      ],
    ],
    [
      'unknown fields, some named like our own attributes',
      [
        {
          role: 'user',
          content: 'x',
          data_message: { ordinal: 9 },
          data_name: 'n',
          id: 'root',
          ordinal: 1,
          fields: {},
        },
        { role: 'assistant', content: { odd: true }, ttl: 0, kind: 'call', refs: ['m0'], children: [1] },
        { role: 'user', content: 12 },
      ],
    ],
  ])(
    'shows every call exactly the messages before it: %s',
    { tags: ['context-tree§9:nothing-lost'] },
    async (_what, messages) => {
      expectShown(await only(JSON.stringify(messages)), messages);
      expectShown(
        await only(JSON.stringify({ model: 'm', messages, tools: [{ type: 'function' }] })),
        messages,
      );
    },
  );

  it(
    'shows every call of a random message list exactly the messages before it',
    { tags: ['context-tree§9:nothing-lost'] },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyMessage, { maxLength: 12 }), async (list) => {
          const messages = JSON.parse(JSON.stringify(list)) as Message[];
          expectShown(await only(JSON.stringify(messages)), messages);
        }),
        { numRuns: runs },
      );
    },
  );

  it(
    'makes one cycle per model call and leaves the rest open, ids and times from ordinals',
    { tags: ['context-tree§9:mapping', 'context-tree§9:times-and-ids', 'record§3:imports'] },
    async () => {
      const { working, commands } = await only(
        JSON.stringify([
          { role: 'system', content: 'be brief' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
          { role: 'assistant', content: 'c', tool_calls: [call('x')] },
          { role: 'tool', tool_call_id: 'x', content: 'd' },
          { role: 'assistant', content: 'e' },
        ]),
      );
      expect(commands.map(({ steps }) => steps.map(({ op }) => op))).toEqual([
        ['start', 'insert', 'insert', 'commit'],
        ['insert', 'insert', 'commit'],
        ['insert'],
      ]);
      expect(commands.map(({ expected }) => expected)).toEqual([undefined, 0, 1]);
      expect(
        working.ids.map((id, i) => [
          id,
          Number(working.headers[i]?.created_at_ns),
          working.headers[i]?.kind ?? null,
        ]),
      ).toEqual([
        ['root', 0, null],
        ['sys', 0, null],
        ['m0', 1, 'text'],
        ['seq', 0, null],
        ['t:0:1', 3, null],
        ['m1', 2, 'text'],
        ['m1:1', 2, 'text'],
        ['t:0:2', 6, null],
        ['m2', 4, 'text'],
        ['m2:1', 4, 'call'],
        ['m3', 5, 'result'],
        ['ah', 0, null],
        ['m4', 7, 'text'],
      ]);
    },
  );

  it(
    'keeps fields beside the list of messages with the first message, and reports them',
    { tags: ['context-tree§9:nothing-lost'] },
    async () => {
      const { working, payloads, report } = await only(
        JSON.stringify({ messages: [{ role: 'user', content: 'x', mood: 'odd' }], tools: [1], model: 'm' }),
      );
      const at = working.indexOf('m0') ?? -1;
      expect(payloads(working.payloads[at] ?? { seq: -1, index: -1 })).toEqual({
        content: 'x',
        data_conversation: { tools: [1], model: 'm' },
        data_message: { ordinal: 0, content: 'whole', fields: { mood: 'odd' } },
      });
      expect(report).toEqual({
        mapping: 'openai-chat@1',
        summary: expect.objectContaining({ calls: 0, messages: 1, messages_by_role: { user: 1 } }),
        read: { blocks: 1, messages: 1, 'role user': 1 },
        skipped: {},
        unknown: { 'beside the messages model': 1, 'beside the messages tools': 1, 'field mood': 1 },
        warnings: [],
        moreWarnings: 0,
      });
    },
  );

  it('reports calls without an answer and answers without a call', { tags: ['context-tree§9'] }, async () => {
    const { report } = await only(
      JSON.stringify([
        { role: 'assistant', content: null, tool_calls: [call('x'), call('y')] },
        { role: 'tool', tool_call_id: 'y', content: '1' },
        { role: 'tool', tool_call_id: 'q', content: '2' },
        { role: 'tool', content: '3' },
      ]),
    );
    expect(report.read).toEqual({
      blocks: 5,
      calls: 2,
      cycles: 1,
      messages: 4,
      'role assistant': 1,
      'role tool': 3,
    });
    expect(report.warnings).toEqual([
      'line 1, message 3 is a tool message without a tool_call_id',
      'line 1, message 2 answers the call q, which was not made or is answered',
    ]);
  });
});
