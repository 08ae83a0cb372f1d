import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sweAgent } from '../../src/foreign/swe-agent.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const SYSTEM = { role: 'system', content: 'You fix.', agent: 'main', message_type: 'system_prompt' };
const ISSUE = { role: 'user', content: 'It fails.', agent: 'main', message_type: 'observation' };
const DEMO = {
  role: 'user',
  content: 'Here is one.',
  agent: 'main',
  is_demo: true,
  message_type: 'demonstration',
};
const plain = (content: string): object => ({
  ...{ role: 'assistant', content, thought: content, action: 'ls', agent: 'main', message_type: 'action' },
});
const seen = (content: string): object => ({ ...ISSUE, content });
const calling = (id: string, content = ''): object => ({
  ...plain(content),
  tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
});
const result = (id: string, content = 'a.py'): object => ({
  ...{ role: 'tool', content, agent: 'main', tool_call_ids: [id], message_type: 'observation' },
});
const run = (history: readonly object[], more: object = {}): object => ({
  environment: 'main',
  trajectory: [],
  history,
  info: { exit_status: 'submitted', submission: 'diff', model_stats: { api_calls: 0, instance_cost: 0 } },
  replay_config: JSON.stringify({
    agent: { model: { name: 'gpt-x' } },
    problem_statement: { id: 'issue-1' },
  }),
  ...more,
});
const stats = (api_calls: number, exit_status = 'submitted'): object => ({
  info: { exit_status, model_stats: { api_calls, tokens_sent: 7, tokens_received: 2 } },
});
const read = (file: object) => itemsOf(sweAgent, JSON.stringify(file));

describe('a trajectory of SWE-agent', () => {
  test('with function calls has calls, results and thoughts', async () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' };
    const items = await read(
      run(
        [SYSTEM, ISSUE, { ...calling('c1', 'I look.'), thinking_blocks: [thought] }, result('c1')],
        stats(1),
      ),
    );
    expect(items.slice(0, 5)).toEqual([
      {
        kind: 'conversation',
        key: expect.stringMatching(/^run [0-9a-f]{16}$/) as string,
        title: 'issue-1 (submitted)',
      },
      { kind: 'message', role: 'system', messages: [{ role: 'system', content: 'You fix.' }] },
      { kind: 'message', role: 'user', messages: [{ role: 'user', content: 'It fails.' }] },
      {
        ...{ kind: 'call', model: 'gpt-x', missing: ['tools', 'parameters', 'usage'] },
        answer: {
          role: 'assistant',
          content: [thought, { type: 'text', text: 'I look.' }],
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
          ],
        },
      },
      { kind: 'message', role: 'tool', messages: [{ role: 'tool', content: 'a.py', tool_call_id: 'c1' }] },
    ]);
    expect(namedIn(items)).toEqual({
      ...{ 'message thought': 1, 'message action': 1 },
      ...{ 'model_stats tokens_sent': 1, 'model_stats tokens_received': 1 },
    });
  });

  test('has as many calls as the run counted, and without a count those that are no demonstrations', async () => {
    const demo = [
      { ...plain('Demo.'), is_demo: true },
      { ...plain('Demo.'), message_type: 'demonstration' },
    ];
    const history = [SYSTEM, DEMO, ...demo, ISSUE, plain('One.'), seen('ok'), plain('Two.'), seen('ok')];
    const steps = ['One.', 'Two.', 'Three.'].map((response) => ({
      response,
      action: 'ls',
      observation: 'ok',
    }));
    const answersOf = async (more: object): Promise<readonly unknown[]> =>
      callsIn(await read(run(history, more))).map(({ answer }) => answer?.['content']);
    expect(await answersOf({})).toEqual(['One.', 'Two.']);
    expect(await answersOf({ ...stats(3), trajectory: steps })).toEqual(['One.', 'Two.', 'Three.']);
    expect(await answersOf({ ...stats(5, 'exit_cost'), trajectory: steps })).toEqual([
      ...['One.', 'Two.', 'Three.'],
      ...[undefined, undefined],
    ]);
    expect(await answersOf(stats(1))).toEqual(['Two.']);
    expect(namedIn(await read(run(history, { trajectory: steps })))['step that is not in the history']).toBe(
      1,
    );
    const [, , demonstration] = messagesIn(await read(run(history)));
    expect(demonstration?.messages).toEqual([{ role: 'assistant', content: 'Demo.' }]);
  });

  test('of several attempts has a conversation for each, and the calls that chose among them', async () => {
    const attempt = run([SYSTEM, ISSUE, plain('One.')], stats(1, 'exit_context'));
    const items = await read({ ...run([SYSTEM], stats(4)), attempts: [attempt, attempt] });
    expect(
      items.flatMap((item) => (item.kind === 'conversation' ? [item.key?.replace(/ [0-9a-f]{16}/, '')] : [])),
    ).toEqual(['run, attempt 1', 'run, attempt 2', 'run, reviews']);
    expect(callsIn(items)).toHaveLength(4);
  });

  test('is known by its history, and a run of mini-swe-agent or another file is none', async () => {
    expect(await isRecognised(sweAgent, JSON.stringify({ history: [SYSTEM] }))).toBe(true);
    for (const other of [
      { history: [] },
      { history: [{ role: 'user' }] },
      { messages: [], info: {} },
      { attempts: [1] },
    ])
      expect(await isRecognised(sweAgent, JSON.stringify(other))).toBe(false);
  });

  test('says a billion calls: so many are recorded, and the others counted', async () => {
    const items = await read(run([SYSTEM], stats(1_000_000_000)));
    expect([callsIn(items).length, namedIn(items)['calls that are only counted']]).toEqual([
      10_000, 999_990_000,
    ]);
  });

  test('gives answers and results as they were made', async () => {
    const turns = fc.array(
      fc.tuple(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), fc.boolean()),
    );
    await fc.assert(
      fc.asyncProperty(turns, fc.nat(3), async (made, unheld) => {
        const history = made.flatMap(([said, got, isCall], i) =>
          isCall ? [calling(`c${i}`, said), result(`c${i}`, got)] : [plain(said), seen(got)],
        );
        const items = await read(run([SYSTEM, ISSUE, ...history], stats(made.length + unheld)));
        const answers = callsIn(items);
        expect(answers.map(({ answer }) => answer?.['content'])).toEqual([
          ...made.map(([said]) => said),
          ...Array.from({ length: made.length + unheld === 0 ? 0 : unheld }, () => undefined),
        ]);
        expect(
          messagesIn(items)
            .slice(2)
            .map(({ messages: [message] }) => message?.['content']),
        ).toEqual(made.map(([, got]) => got));
      }),
    );
  });

  test('with anything in the place of anything gives items or a coded error', async () => {
    const whole = run([SYSTEM, DEMO, calling('c1'), result('c1')], {
      ...stats(3),
      trajectory: [{ response: 'x' }],
    });
    await survivesDamage(sweAgent, [{ ...whole, attempts: [] }, { attempts: [whole] }]);
  });
});
