import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atif } from '../../src/foreign/atif.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const TOOL = { type: 'function', function: { name: 'depth', parameters: { type: 'object' } } };
const trajectory = (steps: readonly object[], more: object = {}): object => ({
  schema_version: 'ATIF-v1.7',
  session_id: 's1',
  agent: { name: 'harbor-agent', version: '1.0.0', model_name: 'gpt-x', tool_definitions: [TOOL] },
  steps: steps.map((step, i) => ({ step_id: i + 1, ...step })),
  ...more,
});
const ASKED = { source: 'user', message: 'How deep?', timestamp: '2026-09-01T10:00:00Z' };
const called = (more: object = {}): object => ({
  source: 'agent',
  timestamp: '2026-09-01T10:00:01Z',
  model_name: 'gpt-y',
  reasoning_effort: 'low',
  message: 'I look.',
  reasoning_content: 'Deep.',
  tool_calls: [{ tool_call_id: 'c1', function_name: 'depth', arguments: { at: 'pier' } }],
  observation: { results: [{ source_call_id: 'c1', content: '7 m' }] },
  metrics: {
    ...{ prompt_tokens: 10, completion_tokens: 3, cached_tokens: 4, cost_usd: 0.1 },
    extra: { reasoning_tokens: 2 },
  },
  ...more,
});
const read = (...documents: readonly object[]) =>
  itemsOf(atif, documents.map((document) => JSON.stringify(document)).join('\n'));

describe('a trajectory of ATIF', () => {
  test('has a call for each step of the agent with metrics', async () => {
    const items = await read(
      trajectory([
        { source: 'system', message: 'You help.' },
        ASKED,
        called(),
        { source: 'agent', message: 'Bye.' },
      ]),
    );
    expect(items).toMatchObject([
      {
        kind: 'conversation',
        key: expect.stringMatching(/^s1 [0-9a-f]{16}$/),
        title: 'harbor-agent s1',
        version: '1.0.0',
      },
      { kind: 'message', role: 'system', messages: [{ role: 'system', content: 'You help.' }] },
      { kind: 'message', role: 'user', at: Date.parse('2026-09-01T10:00:00Z') },
      {
        ...{ kind: 'call', model: 'gpt-y', tools: [TOOL], parameters: { reasoning_effort: 'low' } },
        usage: { input: 10, output: 3, cached: 4, cacheWrite: null, reasoning: 2 },
        missing: ['parameters'],
        answer: {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Deep.' },
            { type: 'text', text: 'I look.' },
          ],
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"at":"pier"}' } },
          ],
        },
      },
      { kind: 'message', role: 'tool', messages: [{ role: 'tool', tool_call_id: 'c1', content: '7 m' }] },
      { kind: 'message', role: 'assistant', messages: [{ role: 'assistant', content: 'Bye.' }] },
      { kind: 'dropped', what: 'metrics cost_usd', count: 1 },
      { kind: 'dropped', what: 'metrics extra', count: 1 },
    ]);
  });

  test('does not call for steps that were copied from before, nor for what is no call of a model', async () => {
    const dispatch = {
      source: 'agent',
      message: '',
      llm_call_count: 0,
      tool_calls: [],
      observation: { results: [] },
    };
    const items = await read(trajectory([ASKED, called({ is_copied_context: true }), dispatch, called()]));
    expect(callsIn(items)).toHaveLength(1);
    expect(messagesIn(items).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
  });

  test('says what is missing, and that images lie elsewhere', async () => {
    const image = [{ type: 'image', source: { media_type: 'image/png', path: 'images/1.png' } }];
    const items = await read(
      trajectory([{ ...ASKED, message: image }, called({ metrics: {} })], {
        agent: { name: 'a', version: '1' },
      }),
    );
    expect(callsIn(items)[0]?.missing).toEqual(['system prompt', 'tools', 'parameters', 'usage']);
    expect(callsIn(items)[0]?.usage).toBeNull();
    expect(namedIn(items)['W_CONTENT_LOST']).toBe(1);
    expect(messagesIn(items)[0]?.messages).toEqual([{ role: 'user', content: image }]);
  });

  test('has sub-agents as conversations of their own, embedded ones and others of the file', async () => {
    const refs = [{ trajectory_id: 'sub-1' }, { session_id: 's1-sub', trajectory_path: 'sub.json' }];
    const observation = {
      results: [
        { source_call_id: 'c1', content: 'done', subagent_trajectory_ref: [refs[0]] },
        { subagent_trajectory_ref: [refs[1]] },
      ],
    };
    const embedded = trajectory([ASKED, called()], { session_id: undefined, trajectory_id: 'sub-1' });
    const items = await read(
      trajectory([ASKED, called({ observation })], { subagent_trajectories: [embedded] }),
      trajectory([ASKED], { session_id: 's1-sub' }),
      trajectory([ASKED], { session_id: 's1' }),
    );
    const conversations = items.filter((item) => item.kind === 'conversation');
    const [parent = ''] = conversations.map(({ key }) => key);
    expect(conversations).toMatchObject([
      { title: 'harbor-agent s1' },
      { title: 'harbor-agent sub-1', parent: { key: parent, toolCall: 'c1' }, sidechain: true },
      { title: 'harbor-agent s1-sub', parent: { key: parent }, sidechain: true },
      { title: 'harbor-agent s1' },
    ]);
    expect(new Set(conversations.map(({ key }) => key)).size).toBe(4);
    expect(callsIn(items)).toHaveLength(2);
  });

  test('has a compaction where a step replaces what was before', async () => {
    const boundary = {
      source: 'system',
      message: 'Context compaction performed',
      observation: { results: [{ content: 'Summary.' }] },
      extra: { context_management: { type: 'compaction', boundary: 'replace' } },
    };
    const items = await read(trajectory([ASKED, boundary, called()]));
    expect(items.slice(2, 5)).toMatchObject([
      { kind: 'message', role: 'system' },
      { kind: 'compaction' },
      { kind: 'message', role: 'system', messages: [{ role: 'system', content: 'Summary.' }] },
    ]);
    expect(namedIn(items)['step extra']).toBeUndefined();
  });

  test('is read as a document, a list of documents, and lines of them; nothing else is taken for one', async () => {
    const one = trajectory([ASKED, called()]);
    expect(callsIn(await itemsOf(atif, JSON.stringify(one, null, 1)))).toHaveLength(1);
    expect(callsIn(await itemsOf(atif, JSON.stringify([one, one])))).toHaveLength(2);
    expect(callsIn(await read(one, one, one))).toHaveLength(3);
    for (const other of [
      { schema_version: 'ATIF-v1.5' },
      { steps: [] },
      { schema_version: '1', steps: [] },
      [],
      null,
    ])
      expect(await isRecognised(atif, JSON.stringify(other))).toBe(false);
  });

  test('whose last line is cut off is read without it', async () => {
    const text = `${JSON.stringify(trajectory([ASKED, called()]))}\n{"schema_version": "ATIF`;
    expect(namedIn(await itemsOf(atif, text))['W_LINE_CUT']).toBe(1);
  });

  test('gives calls, answers, results and tokens as they were made', async () => {
    const step = fc.record({
      said: fc.string({ maxLength: 30 }),
      result: fc.string({ minLength: 1, maxLength: 30 }),
      tokens: fc.option(fc.tuple(fc.nat(), fc.nat()), { nil: null }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const items = await read(
          trajectory([
            ASKED,
            ...steps.map(({ said, result, tokens }, i) => ({
              source: 'agent',
              message: said,
              tool_calls: [{ tool_call_id: `c${i}`, function_name: 'depth', arguments: { said } }],
              observation: { results: [{ source_call_id: `c${i}`, content: result }] },
              ...(tokens !== null && { metrics: { prompt_tokens: tokens[0], completion_tokens: tokens[1] } }),
            })),
          ]),
        );
        const counted = steps.filter(({ tokens }) => tokens !== null);
        expect(
          callsIn(items).map(({ answer, usage }) => [answer?.['content'], usage?.input, usage?.output]),
        ).toEqual(counted.map(({ said, tokens }) => [said, ...(tokens ?? [])]));
        expect(
          messagesIn(items)
            .filter(({ role }) => role === 'tool')
            .map(({ messages: [message] }) => message),
        ).toEqual(steps.map(({ result }, i) => ({ role: 'tool', content: result, tool_call_id: `c${i}` })));
      }),
    );
  });

  test('with anything in the place of anything gives items or a coded error', async () => {
    const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as object;
    const values = [
      trajectory([ASKED, called({ extra: hostile })], { subagent_trajectories: [trajectory([called()])] }),
      trajectory([called()], { session_id: '__proto__', trajectory_id: '__proto__' }),
    ];
    await survivesDamage(atif, values);
  });
});
