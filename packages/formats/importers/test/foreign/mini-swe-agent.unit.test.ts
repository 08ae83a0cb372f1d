import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { miniSweAgent } from '../../src/foreign/mini-swe-agent.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const SYSTEM = { role: 'system', content: 'You fix.' };
const ISSUE = { role: 'user', content: 'It fails.' };
const USAGE = { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } };
const response = (message: object, usage: object = USAGE): object => ({
  ...{ id: 'r1', object: 'chat.completion', model: 'claude-x', usage },
  choices: [{ index: 0, finish_reason: 'tool_calls', message }],
});
const answer = (content: string | null, more: object = {}): object => ({
  ...{ role: 'assistant', content, function_call: null, provider_specific_fields: null },
  ...more,
});
const noted = (message: object, usage?: object): object => ({
  ...message,
  extra: {
    actions: [{ command: 'ls' }],
    cost: 0.1,
    timestamp: 1_788_000_000.25,
    response: response(message, usage),
  },
});
const CALL = { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } };
const RESULT = {
  role: 'tool',
  tool_call_id: 'c1',
  content: 'a.py',
  extra: { raw_output: 'a.py', returncode: 0 },
};
const EXIT = {
  role: 'exit',
  content: 'LimitsExceeded',
  extra: { exit_status: 'LimitsExceeded', submission: '' },
};
const run = (messages: readonly object[], api_calls = 0, more: object = {}): object => ({
  info: {
    model_stats: { instance_cost: 0.1, api_calls },
    config: {
      model: { model_name: 'anthropic/claude-x', model_kwargs: { temperature: 0 } },
      agent_type: 'a',
    },
    mini_version: '2.1.0',
    exit_status: 'LimitsExceeded',
  },
  messages,
  trajectory_format: 'mini-swe-agent-1.1',
  ...more,
});
const read = (file: object) => itemsOf(miniSweAgent, JSON.stringify(file));

describe('a trajectory of mini-swe-agent', () => {
  test('with tool calls has calls with their tokens and times', async () => {
    const items = await read(
      run([SYSTEM, ISSUE, noted(answer(null, { tool_calls: [CALL] })), RESULT, EXIT], 1),
    );
    expect(items.slice(0, 6)).toEqual([
      {
        ...{ kind: 'conversation', key: expect.stringMatching(/^run [0-9a-f]{16}$/) as string },
        ...{ title: 'mini-swe-agent (LimitsExceeded)', version: '2.1.0' },
      },
      { kind: 'message', role: 'system', messages: [SYSTEM] },
      { kind: 'message', role: 'user', messages: [ISSUE] },
      {
        ...{ kind: 'call', model: 'claude-x', at: 1_788_000_000_250, parameters: { temperature: 0 } },
        usage: { input: 10, output: 3, cached: 4, cacheWrite: null, reasoning: null },
        ...{ finishReason: 'tool_calls', missing: ['tools'] },
        answer: { role: 'assistant', content: '', tool_calls: [CALL] },
      },
      { kind: 'message', role: 'tool', messages: [{ role: 'tool', tool_call_id: 'c1', content: 'a.py' }] },
      { kind: 'message', role: 'exit', messages: [{ role: 'user', content: 'LimitsExceeded' }] },
    ]);
    expect(namedIn(items)).toEqual({
      ...{ 'model_stats instance_cost': 1, 'config agent_type': 1, 'extra actions': 1, 'extra cost': 1 },
      ...{ 'extra raw_output': 1, 'extra returncode': 1 },
    });
  });

  test('of the first version is plain text without notes', async () => {
    const items = await read(
      run([SYSTEM, ISSUE, answer('```bash\nls\n```'), { role: 'user', content: 'a.py' }], 1, {
        trajectory_format: undefined,
        info: { mini_version: '1.0.0', model_stats: { api_calls: 1 } },
      }),
    );
    expect(callsIn(items)).toMatchObject([
      { model: null, answer: { content: '```bash\nls\n```' }, missing: ['tools', 'parameters', 'usage'] },
    ]);
  });

  test('of the Responses API has its items as answers and results', async () => {
    const said = {
      ...{ id: 'r1', object: 'response', model: 'gpt-x', status: 'completed' },
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
      ],
      usage: { input_tokens: 8, output_tokens: 2, output_tokens_details: { reasoning_tokens: 1 } },
      extra: { timestamp: 1_788_000_000 },
    };
    const output = { type: 'function_call_output', call_id: 'c1', output: 'a.py', extra: {} };
    const items = await read(run([SYSTEM, ISSUE, said, output], 1));
    const [call] = callsIn(items);
    expect([call?.model, call?.usage?.input, call?.usage?.reasoning]).toEqual(['gpt-x', 8, 1]);
    expect(call?.answer).toMatchObject({
      role: 'assistant',
      tool_calls: [{ id: 'c1', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
    });
    expect(messagesIn(items)[2]?.messages).toMatchObject([
      { role: 'tool', tool_call_id: 'c1', content: 'a.py' },
    ]);
  });

  test('counts tries whose answer was no action, and calls that it does not hold', async () => {
    const complaint = {
      ...{ role: 'user', content: 'Give one action.' },
      extra: { interrupt_type: 'FormatError', response: response(answer('What?')) },
    };
    const items = await read(run([SYSTEM, ISSUE, complaint, noted(answer('ls')), EXIT], 3));
    expect(
      callsIn(items).map(({ answer: said, usage, missing }) => [said?.['content'], usage?.input, missing]),
    ).toEqual([
      [undefined, 10, ['tools', 'answer']],
      ['ls', 10, ['tools']],
      [undefined, undefined, ['messages', 'answer', 'tools', 'parameters', 'usage']],
    ]);
    expect(namedIn(items)['answer that is no action']).toBe(1);
  });

  test('that grows stays the same conversation, and another run is another one', async () => {
    const first = { ...answer('ls'), extra: { timestamp: 1_788_000_000 } };
    const keyOf = async (...messages: object[]): Promise<unknown> =>
      (await read(run([SYSTEM, ISSUE, ...messages]))).find(({ kind }) => kind === 'conversation');
    const key = await keyOf(first);
    expect(await keyOf(first, RESULT, EXIT)).toEqual(key);
    expect(await keyOf({ ...first, extra: { timestamp: 1_788_000_001 } })).not.toEqual(key);
    expect(await keyOf(answer('ls'))).not.toEqual(await keyOf(answer('ls'), RESULT));
  });

  test('is known by its format, its version or its counts', async () => {
    for (const info of [{ mini_version: '1.0.0' }, { model_stats: { api_calls: 1 } }])
      expect(await isRecognised(miniSweAgent, JSON.stringify({ messages: [], info }))).toBe(true);
    for (const other of [
      { messages: [] },
      { messages: [], info: {} },
      { trajectory_format: 'mini-swe-agent-1' },
      [],
    ])
      expect(await isRecognised(miniSweAgent, JSON.stringify(other))).toBe(false);
  });

  test('gives calls, answers, results and tokens as they were made', async () => {
    const turn = fc.tuple(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), fc.nat(), fc.nat());
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
        const messages = turns.flatMap(([said, got, prompt_tokens, completion_tokens], i) => [
          noted(answer(said, { tool_calls: [{ ...CALL, id: `c${i}` }] }), {
            prompt_tokens,
            completion_tokens,
          }),
          { ...RESULT, tool_call_id: `c${i}`, content: got },
        ]);
        const items = await read(run([SYSTEM, ISSUE, ...messages], turns.length));
        expect(
          callsIn(items).map(({ answer: said, usage }) => [said?.['content'], usage?.input, usage?.output]),
        ).toEqual(turns.map(([said, , input, output]) => [said, input, output]));
        expect(
          messagesIn(items)
            .slice(2)
            .map(({ messages: [message] }) => message),
        ).toEqual(turns.map(([, content], i) => ({ role: 'tool', tool_call_id: `c${i}`, content })));
      }),
    );
  });

  test('with anything in the place of anything gives items or a coded error', async () => {
    const output = { type: 'function_call_output', call_id: 'c1', output: 'a.py', extra: {} };
    const whole = run([SYSTEM, noted(answer('x', { tool_calls: [CALL] })), RESULT, output, EXIT], 9);
    await survivesDamage(miniSweAgent, [whole, whole]);
  });
});
