import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { describe, expect, test } from 'vitest';
import type { RerunSummary } from '../src/index.ts';
import { calling, message, record, result, runAgain, type Agent, type Model } from './agents.ts';

const PIERS = 5;

/** What the harbour's agent is told, sees and does: six calls, each with the answer of the one before. */
type Harbour = {
  readonly prompt: (time: string) => string;
  readonly question: (uuid: string) => string;
  readonly tool: (pier: number) => string;
  /** A message that it adds before its fourth call. */
  readonly added: string | null;
};

const HARBOUR: Harbour = {
  prompt: () => 'You are the harbour master.',
  question: () => 'How many ships are at each pier?',
  tool: (pier) => `pier-${pier}: 3 ships at berth 7, tide 2.1 m`,
  added: null,
};

const harbour =
  (over: Partial<Harbour> = {}): Agent =>
  (ask, { time, uuid }) => {
    const { prompt, question, tool, added } = { ...HARBOUR, ...over };
    const messages: WideJsonObject[] = [message('user', question(uuid))];
    const request = (): WideJsonObject => ({
      model: 'gpt-4o',
      messages: [message('system', prompt(time())), ...messages],
    });
    for (let pier = 0; pier < PIERS; pier++) {
      const answer = ask(request());
      messages.push(answer, result(callId(answer), tool(pier)));
      if (pier === 2 && added !== null) messages.push(message('user', added));
    }
    ask(request());
  };

const callId = (answer: WideJsonObject): string =>
  ((answer['tool_calls'] as readonly WideJsonObject[])[0]?.['id'] ?? '') as string;

const model: Model = (number) =>
  number < PIERS
    ? calling([`call_${number}`, 'lookup', { q: `pier-${number}` }])
    : message('assistant', 'Three at each.');

const U = '3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff';

const countsOf = ({ counts }: RerunSummary): WideJson => {
  const { same, bound, differs, extra, missing } = counts;
  return { same, bound, differs, extra, missing };
};
const all = (
  counts: Partial<Record<'same' | 'bound' | 'differs' | 'extra' | 'missing', number>>,
): WideJson => ({
  same: 0,
  bound: 0,
  differs: 0,
  extra: 0,
  missing: 0,
  ...counts,
});

describe('one conversation', () => {
  test('a run that is the same is the same in every call', () => {
    const { rerun, matches } = runAgain(harbour(), record(harbour(), model, U));
    expect(countsOf(rerun.summary())).toEqual(all({ same: 6 }));
    expect(matches.map((match) => match.kind === 'serve' && match.call)).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `@c${n}`),
    );
  });

  test('a time in the prompt is bound in each of its calls', () => {
    const agent = harbour({ prompt: (time) => `It is ${time}.` });
    const { rerun } = runAgain(agent, record(agent, model, U));
    expect(countsOf(rerun.summary())).toEqual(all({ bound: 6 }));
  });

  test('a uuid in the question is one bound value', () => {
    const agent = harbour({ question: (uuid) => `Order ${uuid}: how many ships?` });
    const { rerun } = runAgain(agent, record(agent, model, U));
    const summary = rerun.summary();
    expect(countsOf(summary)).toEqual(all({ bound: 6 }));
    expect(summary.bindings).toEqual([
      { kind: 'uuid', recorded: U, now: '0f0e0d0c-1111-4222-8333-444455556666' },
    ]);
  });

  test('a changed prompt differs at the first call', () => {
    const changed = harbour({ prompt: () => 'You are the harbour mistress.' });
    const { rerun } = runAgain(changed, record(harbour(), model, U));
    const summary = rerun.summary();
    expect(countsOf(summary)).toEqual(all({ differs: 1, missing: 5 }));
    expect(summary.calls[0]?.difference).toEqual({
      of: '@c1',
      among: 1,
      cause: 'prompt',
      message: 0,
      role: 'system',
      name: null,
      a: 'You are the harbour master.',
      b: 'You are the harbour mistress.',
      askedBy: null,
      conflict: null,
      gone: 0,
    });
  });

  test('a changed tool result differs at the call that shows it first', () => {
    const changed = harbour({
      tool: (pier) => HARBOUR.tool(pier).replace('3 ships', pier === 2 ? '9 ships' : '3 ships'),
    });
    const { rerun } = runAgain(changed, record(harbour(), model, U));
    const summary = rerun.summary();
    expect(countsOf(summary)).toEqual(all({ same: 3, differs: 1, missing: 2 }));
    expect(summary.calls[3]).toEqual({
      label: '@c4',
      how: 'differs',
      bindings: [],
      difference: {
        of: '@c4',
        among: 1,
        cause: 'tool result',
        message: 7,
        role: 'tool',
        name: null,
        a: 'pier-2: 3 ships at berth 7, tide 2.1 m',
        b: 'pier-2: 9 ships at berth 7, tide 2.1 m',
        askedBy: { tool: 'lookup', arguments: '{"q":"pier-2"}', call: '@c3' },
        conflict: null,
        gone: 0,
      },
      shownTo: ['@c4', '@c5', '@c6'],
      ledTo: { calls: 3, tokens: 300 },
    });
  });

  test('with recorded tools a changed result is the difference of the world', () => {
    const changed = harbour({
      tool: (pier) => HARBOUR.tool(pier).replace('3 ships', pier === 2 ? '9 ships' : '3 ships'),
    });
    const { rerun } = runAgain(changed, record(harbour(), model, U), { tools: 'recorded' });
    const summary = rerun.summary();
    expect(countsOf(summary)).toEqual(all({ same: 6 }));
    expect(summary.world).toEqual([
      {
        call: '@c4',
        tool: 'lookup',
        a: 'pier-2: 3 ships at berth 7, tide 2.1 m',
        b: 'pier-2: 9 ships at berth 7, tide 2.1 m',
      },
    ]);
  });

  test('a message added in the middle differs there, and is a question', () => {
    const changed = harbour({ added: 'Be quick.' });
    const { rerun } = runAgain(changed, record(harbour(), model, U));
    const summary = rerun.summary();
    expect(countsOf(summary)).toEqual(all({ same: 3, differs: 1, missing: 2 }));
    expect(summary.calls[3]?.difference).toMatchObject({
      of: '@c4',
      cause: 'question',
      message: 8,
      role: 'user',
      a: null,
      b: 'Be quick.',
    });
  });
});
