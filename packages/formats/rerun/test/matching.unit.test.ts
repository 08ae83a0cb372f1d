import type { WideJsonObject } from '@stemma/canonical';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  DEFAULT_OPTIONS,
  openRerun,
  planRerun,
  type Match,
  type RecordedConversation,
  type Recording,
  type Rerun,
  type RerunOptions,
} from '../src/index.ts';
import {
  attempt,
  calling,
  conversation,
  cycle,
  LIVE_AT,
  message,
  RECORDED_AT,
  record,
  result,
  runAgain,
  type Agent,
} from './agents.ts';

const SECOND = 1_000_000_000n;
const U1 = '3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff';
const U2 = '9c41aaaa-1111-4222-8333-444455556666';
const V1 = '0f0e0d0c-1234-4222-8333-444455556666';
const V2 = 'abcdef01-1234-4222-8333-444455556666';

const open = (recording: Recording, options: Partial<RerunOptions> = {}): Rerun =>
  openRerun(recording, { ...DEFAULT_OPTIONS, ...options });

const asking = (...texts: readonly string[]): WideJsonObject => ({
  model: 'gpt-4o',
  messages: texts.map((text) => message('user', text)),
});

const alone = (id: string, request: WideJsonObject, answer: string, at = RECORDED_AT): RecordedConversation =>
  conversation(id, [
    cycle({
      label: `${id}:@c1`,
      request,
      at,
      attempts: [attempt({ id: `${id}.1`, answer: message('assistant', answer) })],
    }),
  ]);

const live = (rerun: Rerun, request: WideJsonObject, at = LIVE_AT): Match =>
  rerun.match({ api: 'openai.chat', path: null, request: structuredClone(request) }, at);

const servedCall = (match: Match): string | null => (match.kind === 'serve' ? match.call : null);

describe('parallel conversations', () => {
  test('of 50 parallel calls with a time and one other word each gets its own answer, in any order', () => {
    const prompt = (i: number, at: bigint): WideJsonObject =>
      asking(`It is ${new Date(Number(at / 1_000_000n)).toISOString()}. Sum up document ${WORDS[i] ?? ''}.`);
    const recordedAt = (i: number): bigint => RECORDED_AT + BigInt(i) * SECOND;
    const recording = {
      conversations: WORDS.map((word, i) => alone(word, prompt(i, recordedAt(i)), word, recordedAt(i))),
    };
    fc.assert(
      fc.property(fc.shuffledSubarray([...WORDS.keys()], { minLength: 50 }), (order) => {
        const rerun = open(recording);
        const answers = order.map((i, n) => {
          const at = LIVE_AT + BigInt(n) * 7n * SECOND;
          const match = live(rerun, prompt(i, at), at);
          return match.kind === 'serve' ? match.answer?.['content'] : match.kind;
        });
        expect(answers).toEqual(order.map((i) => WORDS[i]));
        expect(rerun.summary().counts).toMatchObject({ bound: 50, differs: 0, extra: 0, missing: 0 });
      }),
      { numRuns: 100 },
    );
  });

  test('of 20 twins each answer is given once, the earliest first', () => {
    const twins = Array.from({ length: 20 }, (_, i) =>
      alone(`t${i}`, asking('Roll a die.'), `answer ${i}`, RECORDED_AT + BigInt(i)),
    );
    const rerun = open({ conversations: twins });
    const matches = twins.map(() => live(rerun, asking('Roll a die.')));
    expect(matches.map(servedCall)).toEqual(twins.map(({ id }) => `${id}:@c1`));
    expect(live(rerun, asking('Roll a die.'))).toMatchObject({ kind: 'extra' });
  });

  test('twins of equal answers are interchangeable until they differ', () => {
    const twin = (id: string, next: string): RecordedConversation =>
      conversation(id, [
        cycle({
          label: `${id}1`,
          request: asking('Go.'),
          attempts: [attempt({ answer: message('assistant', 'Where?') })],
        }),
        cycle({
          label: `${id}2`,
          request: {
            model: 'gpt-4o',
            messages: [message('user', 'Go.'), message('assistant', 'Where?'), message('user', next)],
          },
        }),
      ]);
    const rerun = open({ conversations: [twin('a', 'Home.'), twin('b', 'Away.')] });
    const go = (next: string): WideJsonObject => ({
      model: 'gpt-4o',
      messages: [message('user', 'Go.'), message('assistant', 'Where?'), message('user', next)],
    });
    expect(
      [asking('Go.'), asking('Go.'), go('Away.'), go('Home.')].map((each) => servedCall(live(rerun, each))),
    ).toEqual(['a1', 'b1', 'b2', 'a2']);
  });

  test('calls that come in another order are the same', () => {
    const rerun = open({
      conversations: [
        alone('a', asking('A'), 'a', RECORDED_AT),
        alone('b', asking('B'), 'b', RECORDED_AT + 1n),
      ],
    });
    expect([live(rerun, asking('B')), live(rerun, asking('A'))]).toMatchObject([
      { kind: 'serve', call: 'b:@c1', how: 'same' },
      { kind: 'serve', call: 'a:@c1', how: 'other order' },
    ]);
    expect(rerun.summary().counts.same).toBe(2);
  });

  test('a beginning that differs leaves the others to the calls that are the same', () => {
    const rerun = open({
      conversations: ['a', 'b', 'c'].map((id, i) =>
        alone(id, asking(`Text ${id}`), id, RECORDED_AT + BigInt(i)),
      ),
    });
    expect(live(rerun, asking('Text B'))).toMatchObject({
      kind: 'differs',
      difference: { of: 'a:@c1', among: 3 },
    });
    expect([live(rerun, asking('Text a')), live(rerun, asking('Text c'))].map(servedCall)).toEqual([
      'a:@c1',
      'c:@c1',
    ]);
    expect(rerun.summary().calls[0]).toMatchObject({
      label: 'b:@c1',
      how: 'differs',
      difference: { a: 'Text b', b: 'Text B', among: 1 },
    });
    expect(rerun.summary().counts).toMatchObject({ same: 2, differs: 1, missing: 0 });
  });

  test('of sub-agents with equal prompts each is that of its own parent', () => {
    const agent: Agent = (ask) => {
      for (const task of ['first task', 'second task']) {
        const start: WideJsonObject[] = [message('user', `Do the ${task}.`)];
        const asked = ask({ model: 'gpt-4o', messages: start }, task);
        const [call] = asked['tool_calls'] as readonly WideJsonObject[];
        ask(asking('Look at the harbour.'), `${task}-sub`, {
          call: `${task}:@c1`,
          toolCall: call?.['id'] as string,
        });
        ask({ model: 'gpt-4o', messages: [...start, asked, result(call?.['id'] as string, 'done')] }, task);
      }
    };
    const recording = record(
      agent,
      (n) =>
        n % 3 === 0
          ? calling([`call_${n}`, 'delegate', { text: 'Look at the harbour.' }])
          : message('assistant', `answer ${n}`),
      U1,
    );
    const rerun = open(recording);
    const second = recording.conversations.find(({ id }) => id === 'second task');
    live(rerun, second?.cycles[0]?.request as WideJsonObject);
    expect(servedCall(live(rerun, asking('Look at the harbour.')))).toBe('second task-sub:@c1');
  });
});

const WORDS = Array.from(
  { length: 50 },
  (_, i) => `harbour${String.fromCharCode(97 + (i % 26))}${i < 26 ? 'x' : 'y'}`,
);

describe('one to one', () => {
  const two = (a: string, b: string): WideJsonObject => asking(`From ${a} to ${b}.`);
  const again = (a: string, b: string, c: string): WideJsonObject => asking(`From ${a} to ${b}, order ${c}.`);

  test('two uuids that swap places differ', () => {
    const recording = { conversations: [alone('a', two(U1, U2), 'ok')] };
    expect(live(open(recording), two(U2, U1))).toMatchObject({
      kind: 'differs',
      difference: { cause: 'question' },
    });
    expect(live(open(recording), two(V1, V2))).toMatchObject({ kind: 'serve', how: 'bound' });
  });

  test('a uuid that stands for two differs, and so do two that stand for one', () => {
    const one = { conversations: [alone('a', again(U1, U2, U1), 'ok')] };
    expect(live(open(one), again(V1, V2, V1))).toMatchObject({ kind: 'serve' });
    expect(live(open(one), again(V1, V2, V2))).toMatchObject({ kind: 'differs' });
    expect(live(open(one), again(V1, V1, V1))).toMatchObject({ kind: 'differs' });
  });

  test('what stands for another in one conversation does so in all', () => {
    const recording = {
      conversations: [alone('a', asking(`A ${U1}`), 'a'), alone('b', asking(`B ${U1}`), 'b')],
    };
    const rerun = open(recording);
    expect(live(rerun, asking(`A ${V1}`))).toMatchObject({ kind: 'serve' });
    expect(live(rerun, asking(`B ${V2}`))).toMatchObject({
      kind: 'differs',
      difference: { a: `B ${U1}`, b: `B ${V2}` },
    });
  });

  test('a date is bound only if it is the day of its call, then and now', () => {
    const recording = (date: string): Recording => ({
      conversations: [alone('a', asking(`Deliver on ${date}.`), 'ok')],
    });
    const judged = (recorded: string, now: string): string =>
      live(open(recording(recorded)), asking(`Deliver on ${now}.`)).kind;
    expect(judged('2026-11-12', '2026-11-28')).toBe('serve');
    expect(judged('2026-12-24', '2026-12-25')).toBe('differs');
    expect(judged('2026-11-12', '2026-12-25')).toBe('differs');
    expect(judged('2026-12-24', '2026-11-28')).toBe('differs');
  });

  test('a time that was bound stays bound in later calls', () => {
    const agent: Agent = (ask, { time }) => {
      const messages: WideJsonObject[] = [message('user', `Now: ${time()}`)];
      for (let i = 0; i < 3; i++)
        messages.push(ask({ model: 'm', messages: [...messages] }), message('user', `and ${i}`));
    };
    const recording = record(agent, (n) => message('assistant', `answer ${n}`), U1);
    const { conversations } = recording;
    const hours = {
      conversations: conversations.map((each) => ({
        ...each,
        cycles: each.cycles.map((own, i) => ({ ...own, at: own.at + BigInt(i) * 3_600n * SECOND })),
      })),
    };
    expect(runAgain(agent, hours).rerun.summary().counts).toMatchObject({ bound: 3, differs: 0 });
  });

  test('with strict values nothing is bound', () => {
    const recording = { conversations: [alone('a', asking(`A ${U1}`), 'a')] };
    expect(live(open(recording, { values: 'strict' }), asking(`A ${V1}`))).toMatchObject({ kind: 'differs' });
    expect(live(open(recording, { values: 'strict' }), asking(`A ${U1}`))).toMatchObject({
      kind: 'serve',
      how: 'same',
    });
  });

  test('an answer says the values of now', () => {
    const recording = { conversations: [alone('a', asking(`Order ${U1}`), `Order ${U1} is on its way.`)] };
    expect(live(open(recording), asking(`Order ${V1}`))).toMatchObject({
      kind: 'serve',
      how: 'bound',
      answer: { content: `Order ${V1} is on its way.` },
    });
  });
});

describe('what differs', () => {
  const tool = (name: string, description = 'looks up'): WideJsonObject => ({
    type: 'function',
    function: { name, description, parameters: { type: 'object' } },
  });
  const request = (over: WideJsonObject = {}): WideJsonObject => ({
    model: 'gpt-4o',
    temperature: 0.5,
    stream: false,
    tools: [tool('lookup'), tool('book')],
    messages: [message('system', 'Be brief and kind.'), message('user', 'Hello.')],
    ...over,
  });
  const judged = (over: WideJsonObject): unknown => {
    const match = live(open({ conversations: [alone('a', request(), 'ok')] }), request(over));
    if (match.kind !== 'differs') return match.kind;
    const { cause, name, a, b } = match.difference;
    return [cause, name, a, b];
  };

  test.each([
    ['a model', { model: 'gpt-5' }, ['parameters', 'model', '"gpt-4o"', '"gpt-5"']],
    ['a temperature', { temperature: 1 }, ['parameters', 'temperature', '0.5', '1']],
    ['a stream', { stream: true }, ['parameters', 'stream', 'false', 'true']],
    ['a parameter more', { seed: 7 }, ['parameters', 'seed', null, '7']],
    ['a user', { user: 'ann' }, ['parameters', 'user', null, '"ann"']],
    ['a tool less', { tools: [tool('lookup')] }, ['tools', 'book', expect.stringContaining('"book"'), null]],
    [
      'a tool described otherwise',
      { tools: [tool('lookup', 'finds'), tool('book')] },
      ['tools', 'lookup.description', '"looks up"', '"finds"'],
    ],
    [
      'tools in another order',
      { tools: [tool('book'), tool('lookup')] },
      ['tools', expect.any(String), '["lookup","book"]', '["book","lookup"]'],
    ],
    [
      'a word of the prompt',
      { messages: [message('system', 'Be brief and rude.'), message('user', 'Hello.')] },
      ['prompt', null, 'Be brief and kind.', 'Be brief and rude.'],
    ],
    [
      'a question',
      { messages: [message('system', 'Be brief and kind.'), message('user', 'Bye.')] },
      ['question', null, 'Hello.', 'Bye.'],
    ],
  ] as const)('%s differs, with its cause and both values', (_what, over, expected) => {
    expect(judged(over)).toEqual(expected);
  });

  test('the order of keys, marks of caches and the form of an echoed answer do not count', () => {
    const first = cycle({
      label: '@c1',
      request: request(),
      attempts: [attempt({ answer: { role: 'assistant', content: 'Hi.' } })],
    });
    const second = cycle({
      label: '@c2',
      request: request({
        messages: [
          ...(request()['messages'] as readonly WideJsonObject[]),
          { role: 'assistant', content: 'Hi.' },
        ],
      }),
    });
    const rerun = open({ conversations: [conversation('main', [first, second])] });
    const { messages, ...rest } = request();
    expect(live(rerun, { messages: messages as readonly WideJsonObject[], ...rest })).toMatchObject({
      how: 'same',
    });
    const [system, user] = messages as readonly WideJsonObject[];
    const marked = { content: 'Hello.', role: 'user', cache_control: { type: 'ephemeral' } };
    const echoed = {
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi.' }],
      refusal: null,
      tool_calls: null,
    };
    expect(user).toEqual(message('user', 'Hello.'));
    expect(live(rerun, request({ messages: [system as WideJsonObject, marked, echoed] }))).toMatchObject({
      kind: 'serve',
      how: 'same',
      call: '@c2',
    });
  });

  const history = (...messages: readonly WideJsonObject[]): WideJsonObject => ({ model: 'm', messages });
  const talk = [
    message('user', 'A'),
    calling(['call_1', 'lookup', { q: 'x' }], ['call_2', 'lookup', { q: 'y' }]),
    result('call_1', 'one'),
    result('call_2', 'two'),
    message('assistant', 'done'),
    message('user', 'B'),
  ];
  const recorded: Recording = {
    conversations: [
      conversation('main', [
        cycle({
          label: '@c1',
          request: history(...talk.slice(0, 1)),
          attempts: [attempt({ answer: talk[1] as WideJsonObject })],
        }),
        cycle({
          label: '@c2',
          request: history(...talk.slice(0, 4)),
          attempts: [attempt({ answer: talk[4] as WideJsonObject })],
        }),
        cycle({ label: '@c3', request: history(...talk) }),
      ]),
    ],
  };
  const third = (...messages: readonly WideJsonObject[]): unknown => {
    const rerun = open(recorded);
    live(rerun, history(...talk.slice(0, 1)));
    live(rerun, history(...talk.slice(0, 4)));
    const match = live(rerun, history(...messages));
    return match.kind === 'differs'
      ? [match.difference.of, match.difference.cause, match.difference.gone]
      : match.kind;
  };
  const [a, calls, one, two, done, b] = talk as [
    WideJsonObject,
    WideJsonObject,
    WideJsonObject,
    WideJsonObject,
    WideJsonObject,
    WideJsonObject,
  ];

  test('results in another order are told as such, and not sorted', () => {
    expect(third(a, calls, two, one, done, b)).toEqual(['@c3', 'order', 0]);
  });

  test('a history that lost an exchange is shortened', () => {
    expect(third(message('user', 'In short: A.'), done, b)).toEqual(['@c3', 'history shortened', 4]);
  });

  test('an answer that the agent changed is edited', () => {
    expect(third(a, calls, one, two, message('assistant', 'not done'), b)).toEqual([
      '@c3',
      'answer edited',
      0,
    ]);
  });

  test('a result that is gone is one of the tool', () => {
    expect(third(a, calls, one, done, b)).toEqual(['@c3', 'tool result', 0]);
  });
});

describe('attempts', () => {
  const tried: Recording = {
    conversations: [
      conversation('main', [
        cycle({
          label: '@c1',
          request: asking('A'),
          attempts: [
            attempt({ id: '1', status: 429 }),
            attempt({ id: '2', outcome: 'cancelled', status: 200, isStreamed: true }),
            attempt({ id: '3', answer: message('assistant', 'a') }),
          ],
        }),
      ]),
    ],
  };

  test('attempts are served as recorded, in their order', () => {
    const rerun = open(tried);
    const matches = [0, 1, 2].map(() => live(rerun, asking('A')));
    expect(matches).toMatchObject([
      { kind: 'serve', attempt: '1', index: 0, number: 0 },
      { kind: 'serve', attempt: '2', index: 1, number: 0 },
      { kind: 'serve', attempt: '3', index: 2, number: 0 },
    ]);
    expect(rerun.summary().counts).toMatchObject({ same: 1, extra: 0 });
    expect(live(rerun, asking('A'))).toMatchObject({ kind: 'extra' });
  });

  test('fewer attempts are noted, and no difference', () => {
    const rerun = open(tried);
    live(rerun, asking('A'));
    expect(rerun.summary()).toMatchObject({
      counts: { same: 1, differs: 0, missing: 0 },
      notes: ['@c1 was recorded with 3 attempts; the agent asked for 1'],
    });
  });

  test('errors can be skipped', () => {
    expect(live(open(tried, { errors: 'skip' }), asking('A'))).toMatchObject({
      kind: 'serve',
      attempt: '3',
      index: 2,
    });
  });

  test('a call that was stopped and comes again is the same difference', () => {
    const rerun = open(tried);
    expect(live(rerun, asking('B'))).toEqual(live(rerun, asking('B')));
    expect(rerun.summary().counts).toMatchObject({ differs: 1, extra: 0, missing: 0 });
  });
});

describe('what cannot be served', () => {
  const recording: Recording = {
    conversations: [
      conversation('main', [
        cycle({
          label: '@c1',
          request: asking('A'),
          attempts: [attempt({ answer: calling(['call_1', 'lookup', {}]) })],
        }),
        cycle({
          label: '@c2',
          request: asking('A', 'B'),
          attempts: [attempt({ outcome: 'unknown', status: null })],
        }),
        cycle({ label: '@c3', request: asking('A', 'B', 'C'), attempts: [attempt({ bytes: 'gone' })] }),
        cycle({
          label: '@c4',
          request: asking('A', 'B', 'C', 'D'),
          attempts: [attempt({ bytes: 'redacted' })],
        }),
      ]),
    ],
  };

  test('it is refused before the start, with the labels', () => {
    expect(planRerun(recording, DEFAULT_OPTIONS)).toEqual({
      calls: 4,
      served: 4,
      refused: [
        { label: '@c2', why: 'unknown' },
        { label: '@c3', why: 'not kept' },
        { label: '@c4', why: 'redacted' },
      ],
      tools: ['lookup'],
    });
  });

  test('what goes to the provider anyway is not refused', () => {
    expect(planRerun(recording, { ...DEFAULT_OPTIONS, from: ['@c2'] })).toMatchObject({
      served: 1,
      refused: [],
    });
    expect(() => planRerun(recording, { ...DEFAULT_OPTIONS, from: ['@c9'] })).toThrow(
      'the recording has no call @c9',
    );
  });

  test('with live calls the provider is asked instead', () => {
    const rerun = open(recording, { onDifference: 'live' });
    live(rerun, asking('A'));
    expect(live(rerun, asking('A', 'B'))).toMatchObject({ kind: 'not kept', of: '@c2' });
  });
});

describe('from a call on', () => {
  const talk = (n: number): WideJsonObject => ({
    model: 'm',
    messages: Array.from({ length: 2 * n - 1 }, (_, i) =>
      message(i % 2 === 0 ? 'user' : 'assistant', `${i % 2 === 0 ? 'question' : 'answer'} ${i}`),
    ),
  });
  const main = [1, 2, 3].map((n) =>
    cycle({
      label: `@c${n}`,
      request: talk(n),
      at: RECORDED_AT + BigInt(n),
      attempts: [attempt({ answer: message('assistant', `answer ${2 * n - 1}`) })],
    }),
  );
  const sub = conversation(
    'sub',
    [cycle({ label: 'sub:@c1', request: asking('Sub.'), at: RECORDED_AT + 4n })],
    {
      parent: { call: '@c1', toolCall: null },
    },
  );
  const recording = { conversations: [conversation('main', main), sub] };

  test('the conversation is served before it, and goes to the provider from there', () => {
    const rerun = open(recording, { from: ['@c2'] });
    expect(live(rerun, talk(1))).toMatchObject({ kind: 'serve' });
    const second = live(rerun, talk(2));
    expect(second).toMatchObject({ kind: 'live', of: '@c2' });
    rerun.answered(second.number, message('assistant', 'another answer'), null);
    const third = {
      model: 'm',
      messages: [
        ...(talk(2)['messages'] as readonly WideJsonObject[]),
        message('assistant', 'another answer'),
        message('user', 'more'),
      ],
    };
    const onwards = live(rerun, third);
    expect(onwards).toMatchObject({ kind: 'live', of: '@c2' });
    const start = { root: second.number, of: '@c2', how: 'before' };
    expect(rerun.summary().calls.map(({ label, how }) => [label, how])).toEqual([
      ['@c1', 'same'],
      ['@c2', 'live'],
      ['@c2+1', 'live'],
      ['sub:@c1', 'missing'],
    ]);
    expect([second, onwards].map(({ number }) => rerun.startOf(number))).toEqual([start, start]);
    expect(live(rerun, asking('Sub.'))).toMatchObject({ kind: 'serve', call: 'sub:@c1' });
    expect(rerun.summary().counts).toMatchObject({ same: 2, live: 2, missing: 0 });
  });

  test('a conversation that a live call leads to begins by itself', () => {
    const rerun = open(recording, { from: ['@c2'] });
    live(rerun, talk(1));
    const second = live(rerun, talk(2));
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'f', arguments: '{"q":"Look at the pier."}' },
    };
    rerun.answered(second.number, { role: 'assistant', content: null, tool_calls: [call] }, null);
    const sub = live(rerun, asking('Look at the pier.'));
    expect(sub).toMatchObject({ kind: 'live' });
    expect(rerun.startOf(sub.number)).toEqual({ root: sub.number, of: '@c2', how: 'begins' });
  });

  test('what no recorded call stands for goes on behind the one that it came after, or begins', () => {
    const rerun = open({ conversations: [conversation('main', main.slice(0, 1))] }, { onDifference: 'live' });
    live(rerun, talk(1));
    const behind = live(rerun, talk(2));
    const begins = live(rerun, asking('Something else.'));
    expect([behind, begins].map(({ number }) => rerun.startOf(number))).toEqual([
      { root: behind.number, of: '@c1', how: 'behind' },
      { root: begins.number, of: null, how: 'begins' },
    ]);
  });

  test('a conversation that differs leaves the recording with live calls', () => {
    const rerun = open(recording, { onDifference: 'live' });
    live(rerun, talk(1));
    const other = {
      model: 'm',
      messages: [...(talk(2)['messages'] as readonly WideJsonObject[]).slice(0, 2), message('user', 'else')],
    };
    const match = live(rerun, other);
    expect(match).toMatchObject({
      kind: 'differs',
      difference: { of: '@c2', cause: 'question' },
      served: null,
    });
    rerun.answered(match.number, message('assistant', 'yes'), null);
    expect(
      live(rerun, {
        model: 'm',
        messages: [...other.messages, message('assistant', 'yes'), message('user', 'on')],
      }),
    ).toMatchObject({
      kind: 'live',
    });
    expect(rerun.summary().counts).toMatchObject({ same: 1, differs: 1, live: 1, missing: 1 });
    expect(rerun.summary().calls.map(({ label, how }) => [label, how])).toEqual([
      ['@c1', 'same'],
      ['@c2', 'differs'],
      ['@c2+1', 'live'],
      ['sub:@c1', 'missing'],
    ]);
  });

  test('a call that differs is served all the same if that is wanted', () => {
    const rerun = open(recording, { onDifference: 'serve' });
    expect(live(rerun, { ...talk(1), temperature: 1 })).toMatchObject({
      kind: 'differs',
      served: { call: '@c1', answer: message('assistant', 'answer 1') },
    });
    expect(live(rerun, { ...talk(2), temperature: 1 })).toMatchObject({
      kind: 'differs',
      served: { call: '@c2' },
    });
  });
});

describe('other APIs', () => {
  test('embeddings are found by their body', () => {
    const embed = (label: string, input: string) =>
      cycle({ label, api: 'other', path: '/v1/embeddings', request: { model: 'e', input } });
    const rerun = open({
      conversations: [conversation('a', [embed('e1', 'one')]), conversation('b', [embed('e2', 'two')])],
    });
    const ask = (input: string, path = '/v1/embeddings'): Match =>
      rerun.match({ api: 'other', path, request: { input, model: 'e' } }, LIVE_AT);
    expect(servedCall(ask('two'))).toBe('e2');
    expect(ask('one', '/v1/rerank')).toMatchObject({ kind: 'extra' });
    expect(servedCall(ask('one'))).toBe('e1');
  });

  test('a response that names the one before goes on from it', () => {
    const ask = (label: string, input: string, previous: string | null) =>
      cycle({
        label,
        api: 'openai.responses',
        request: { model: 'm', input, ...(previous === null ? {} : { previous_response_id: previous }) },
        attempts: [attempt({ answer: message('assistant', `to ${input}`), answerId: `resp_${input}` })],
      });
    const rerun = open({
      conversations: [conversation('main', [ask('@c1', 'one', null), ask('@c2', 'two', 'resp_one')])],
    });
    const go = (input: string, previous: string | null): Match =>
      rerun.match(
        {
          api: 'openai.responses',
          path: null,
          request: { model: 'm', input, ...(previous === null ? {} : { previous_response_id: previous }) },
        },
        LIVE_AT,
      );
    expect(servedCall(go('one', null))).toBe('@c1');
    expect(go('three', 'resp_one')).toMatchObject({
      kind: 'differs',
      difference: { of: '@c2', a: 'two', b: 'three' },
    });
    expect(servedCall(go('two', 'resp_one'))).toBe('@c2');
  });
});

describe('growth', () => {
  test(
    'look-ups grow with the messages of a call, and not with the number of recorded calls',
    { tags: ['long'] },
    () => {
      const counts = [500, 5_000, 50_000].map((size) => {
        const conversations = Array.from({ length: size }, (_, i) =>
          alone(`n${i}`, asking(`Number ${i}`, `It is ${i}`), `answer ${i}`, RECORDED_AT + BigInt(i)),
        );
        const rerun = open({ conversations });
        for (let i = 0; i < 50; i++)
          expect(servedCall(live(rerun, asking(`Number ${i}`, `It is ${i}`)))).toBe(`n${i}:@c1`);
        return rerun.lookUps();
      });
      expect(new Set(counts).size).toBe(1);
      expect(counts[0]).toBeLessThan(50 * 30);
    },
  );
});

test('the line that Claude Code puts before its prompt for the books does not count', () => {
  const prompted = (hash: string): WideJsonObject => ({
    model: 'm',
    messages: [
      message('system', `x-anthropic-billing-header: cc_version=2.1.${hash}; cch=${hash};\nYou write code.`),
      message('user', 'Mend it.'),
    ],
  });
  const rerun = open({ conversations: [alone('a', prompted('7ab2f'), 'Done.')] });
  expect(live(rerun, prompted('3c91e'))).toMatchObject({ kind: 'serve', how: 'same' });
});
