import { describe, expect, it } from 'vitest';
import { readImport, toOpenAIMessages } from '../src/index.ts';
import { record, sourceOf } from './in-memory.ts';

const HI = { role: 'user', content: 'Hi.' };
const YES = { role: 'assistant', content: 'Yes?' };
const NO = { role: 'assistant', content: 'No.' };

/** The messages of each conversation of a file, as the chat API takes them. */
const imported = async (text: string): Promise<readonly unknown[]> =>
  (await record(sourceOf(text))).map(({ working, payloads }) =>
    JSON.parse(JSON.stringify(toOpenAIMessages(working, payloads))),
  );

const json = (value: unknown): string => JSON.stringify(value);
const lines = (...values: readonly unknown[]): string => values.map((value) => `${json(value)}\n`).join('');

describe('openai-chat finds the conversations of a file', () => {
  it.each([
    ['a list', json([HI, YES]), [[HI, YES]]],
    ['an object that holds one', json({ messages: [HI, YES], model: 'x' }), [[HI, YES]]],
    ['an object that holds one under another name', json({ task: 7, traj: [HI, YES] }), [[HI, YES]]],
    ['an object that holds one in a request', json({ id: 1, body: { model: 'x', messages: [HI] } }), [[HI]]],
    [
      'a list of lists',
      json([
        [HI, YES],
        [HI, NO],
      ]),
      [
        [HI, YES],
        [HI, NO],
      ],
    ],
    [
      'a list of objects',
      json([
        { id: 1, messages: [HI, YES] },
        { id: 2, messages: [HI, NO] },
      ]),
      [
        [HI, YES],
        [HI, NO],
      ],
    ],
    [
      'a list of objects under another name',
      json([{ traj: [HI, YES] }, { traj: [HI, NO] }]),
      [
        [HI, YES],
        [HI, NO],
      ],
    ],
    [
      'lines of objects',
      lines({ traj: [HI, YES] }, { traj: [HI, NO] }),
      [
        [HI, YES],
        [HI, NO],
      ],
    ],
    ['lines of messages', lines(HI, YES), [[HI, YES]]],
    ['an indented document', JSON.stringify({ meta: { n: 1 }, messages: [HI, YES] }, null, 2), [[HI, YES]]],
  ])('in %s', { tags: ['context-tree§9'] }, async (_what, text, expected) => {
    expect(await imported(text)).toEqual(expected);
  });

  it(
    'keeps what stands beside the messages with the first of them',
    { tags: ['context-tree§9:nothing-lost'] },
    async () => {
      const [found] = await record(sourceOf(json({ task: 7, run: { at: 1, traj: [HI, YES] } })));
      const first = found?.commands[0]?.steps.find(({ op }) => op === 'insert');
      expect(first).toMatchObject({ node: { data_conversation: { task: 7, run: { at: 1 } } } });
    },
  );

  it.each([
    ['several lists', json({ before: [HI], after: [HI, YES] }), 'E_INPUT_SHAPE', 'before, after'],
    ['one item without messages', json([[HI], { n: 1 }]), 'E_INPUT_SHAPE', 'item 1'],
    [
      'a message that is none',
      json([{ messages: [HI] }, { messages: [{ text: 'x' }] }]),
      'E_ROLE_UNKNOWN',
      'item 1, message 0',
    ],
    ['nothing of the kind', json({ n: [1, 2] }), 'E_FORMAT_UNKNOWN', 'none of the formats'],
  ])('and says where it found %s', { tags: ['context-tree§9'] }, async (_what, text, code, place) => {
    await expect(imported(text)).rejects.toMatchObject({ code, message: expect.stringContaining(place) });
  });

  it('says once how many tool messages name no call', { tags: ['context-tree§9'] }, async () => {
    const result = { role: 'tool', content: 'ok' };
    const [found] = await record(sourceOf(json([HI, YES, result, result, result])));
    expect(found?.report.warnings).toEqual([
      '3 tool messages have no tool_call_id; the first is line 1, message 2',
    ]);
  });
});

describe('openai-chat goes on after a conversation that it cannot read', () => {
  const NONE = { text: 'x' };
  /** What is imported, and what is refused where. */
  const partly = async (text: string): Promise<readonly [readonly unknown[], readonly string[]]> => {
    const source = sourceOf(text);
    const recorded = await record(source, { partly: true });
    const places: string[] = [];
    for await (const item of readImport(source, { partly: true }))
      if (item.kind === 'refused') places.push(`${item.place}: ${item.error.code}`);
    return [
      recorded.map(({ working, payloads }) =>
        JSON.parse(JSON.stringify(toOpenAIMessages(working, payloads))),
      ),
      places,
    ];
  };

  it.each([
    [
      'an item of a list',
      JSON.stringify(
        [{ messages: [HI] }, { n: 1 }, { messages: [HI, YES, NONE] }, { messages: [NO] }],
        null,
        1,
      ),
      ['the file, item 1: E_INPUT_SHAPE', 'the file, item 2: E_ROLE_UNKNOWN'],
    ],
    ['the first item', json([7, [HI], [NO]]), ['line 1, item 0: E_INPUT_SHAPE']],
    ['an item with two lists', json([{ a: [HI], b: [HI] }, [HI], [NO]]), ['line 1, item 0: E_INPUT_SHAPE']],
    [
      'a line',
      `${lines([HI], { messages: [NONE] })}{"messages": [}\n\n${lines(HI, [NO])}{"mess`,
      [
        'line 2: E_ROLE_UNKNOWN',
        'line 3: E_INPUT_NOT_JSON',
        'line 5: E_INPUT_SHAPE',
        'line 7: E_INPUT_TRUNCATED',
      ],
    ],
    [
      'a line about the file',
      lines({ meta: 1 }, { n: 2 }, [HI], [NO]),
      ['line 1: E_INPUT_SHAPE', 'line 2: E_INPUT_SHAPE'],
    ],
    [
      'a long line',
      `${lines([HI])}[${'{"role":"user"},'.repeat(200_000)}oh${' '.repeat(2_000_000)}\n${lines([NO])}`,
      ['line 2: E_INPUT_NOT_JSON'],
    ],
  ])('%s: the others are as they are alone', { tags: ['context-tree§9'] }, async (_what, text, places) => {
    expect(await partly(text)).toEqual([[[HI], [NO]], places]);
    const [place = ''] = places;
    await expect(imported(text)).rejects.toMatchObject({ code: place.split(': ')[1] });
  });

  it(
    'refuses a file with nothing else in it, and messages on lines of which one is none',
    { tags: ['context-tree§9'] },
    async () => {
      await expect(partly(json([{ messages: [NONE] }]))).rejects.toMatchObject({ code: 'E_ROLE_UNKNOWN' });
      await expect(partly(lines([NONE], [NONE]))).rejects.toMatchObject({ code: 'E_ROLE_UNKNOWN' });
      await expect(partly(lines({ meta: 1 }, HI, YES))).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
      await expect(partly(lines({ meta: 1 }, { n: 1 }))).rejects.toMatchObject({ code: 'E_FORMAT_UNKNOWN' });
      await expect(partly(lines(HI, YES, NONE))).rejects.toMatchObject({ code: 'E_ROLE_UNKNOWN' });
      await expect(partly(`${lines(HI, YES)}{"role`)).rejects.toMatchObject({ code: 'E_INPUT_TRUNCATED' });
    },
  );

  it(
    'says once how many calls have no answer, and how many answers no call',
    { tags: ['context-tree§9'] },
    async () => {
      const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
      const calls = { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] };
      const answer = { role: 'tool', tool_call_id: 'z', content: 'ok' };
      const [found] = await record(sourceOf(json([HI, calls, answer, answer])));
      expect(found?.report.warnings).toEqual([
        '2 tool messages answer a call that was not made or is answered; first, line 1, message 2 answers the call z',
        '2 calls have no answer; the first is the call a of line 1, message 1',
      ]);
      const own = { ...answer, tool_call_id: 'a' };
      const [one] = await record(sourceOf(json([HI, calls, own])));
      expect(one?.report.warnings).toEqual(['the call b of line 1, message 1 has no answer']);
      // An answer that names no call may be that of any.
      const [none] = await record(sourceOf(json([HI, calls, own, { role: 'tool', content: 'ok' }])));
      expect(none?.report.warnings).toEqual(['line 1, message 3 is a tool message without a tool_call_id']);
    },
  );
});

describe('openai-chat reads messages of the form {role, parts}', () => {
  const call = (id: string, name: string, args: string) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });

  it.each([
    [
      'of Gemini',
      [
        { role: 'user', parts: [{ text: 'Hi.' }] },
        { role: 'model', parts: [{ text: 'Wait.' }, { functionCall: { name: 'find', args: { q: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'find', response: { n: 2 } } }] },
        { role: 'model', parts: [{ text: 'Two.' }] },
      ],
      [
        HI,
        { role: 'assistant', content: 'Wait.', tool_calls: [call('call-1', 'find', '{"q":1}')] },
        { role: 'tool', tool_call_id: 'call-1', name: 'find', content: '{"n":2}' },
        { role: 'assistant', content: 'Two.' },
      ],
    ],
    [
      'of the AI SDK, where text after a result is another message',
      [
        { id: 'a', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] },
        {
          id: 'b',
          role: 'assistant',
          parts: [
            { type: 'text', text: 'Wait.' },
            {
              type: 'tool-find',
              toolCallId: 'c1',
              state: 'output-available',
              input: { q: 1 },
              output: 'two',
            },
            { type: 'text', text: 'Two.' },
          ],
        },
      ],
      [
        { ...HI, id: 'a' },
        {
          ...{ id: 'b', role: 'assistant', content: 'Wait.' },
          tool_calls: [{ ...call('c1', 'find', '{"q":1}'), part: { state: 'output-available' } }],
        },
        { role: 'tool', tool_call_id: 'c1', name: 'find', content: 'two' },
        { role: 'assistant', content: 'Two.' },
      ],
    ],
    [
      'with parts of other kinds, which stay parts',
      [{ role: 'user', parts: [{ text: 'See:' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] }],
      [
        {
          role: 'user',
          content: [{ type: 'text', text: 'See:' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }],
        },
      ],
    ],
    ['without any part', [{ role: 'user', parts: [] }], [{ role: 'user', content: '' }]],
  ])('%s', { tags: ['context-tree§9'] }, async (_what, messages, expected) => {
    expect(await imported(json(messages))).toEqual([expected]);
  });
});
