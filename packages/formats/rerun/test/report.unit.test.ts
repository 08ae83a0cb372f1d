import type { WideJsonObject } from '@stemma/canonical';
import { expect, test } from 'vitest';
import {
  DEFAULT_OPTIONS,
  openRerun,
  reportLines,
  rerunExit,
  rerunReport,
  type Recording,
} from '../src/index.ts';
import { attempt, calling, conversation, cycle, LIVE_AT, message, result } from './agents.ts';

const U = '3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff';
const V = '9c41aaaa-1111-4222-8333-444455556666';

const ASKED = calling(['call_1', 'lookup', { q: 'pier-2' }]);
const first = (id: string): WideJsonObject => ({ model: 'm', messages: [message('user', `Order ${id}`)] });
const second = (id: string, found: string): WideJsonObject => ({
  model: 'm',
  messages: [message('user', `Order ${id}`), ASKED, result('call_1', found)],
});
const third = (found: string): WideJsonObject => ({
  model: 'm',
  messages: [
    ...(second(U, found)['messages'] as readonly WideJsonObject[]),
    message('assistant', 'Fine.'),
    message('user', 'Thanks.'),
  ],
});

const FOUND = 'pier-2: 3 ships at berth 7, tide 2.1 m';
const RECORDING: Recording = {
  conversations: [
    conversation('main', [
      cycle({ label: '@c1', request: first(U), attempts: [attempt({ answer: ASKED })], tokens: 200 }),
      cycle({
        label: '@c2',
        request: second(U, FOUND),
        attempts: [attempt({ answer: message('assistant', 'Fine.') })],
        tokens: 500,
      }),
      cycle({ label: '@c3', request: third(FOUND), attempts: [attempt()], tokens: 655 }),
    ]),
  ],
};

const run = (...requests: readonly WideJsonObject[]) => {
  const rerun = openRerun(RECORDING, DEFAULT_OPTIONS);
  for (const request of requests) rerun.match({ api: 'openai.chat', path: null, request }, LIVE_AT);
  return rerun.summary();
};

const changed = () => run(first(V), second(V, 'pier-2: 9 ships at berth 1, tide 4.4 m'));

test('the document of --json has the difference, its node and what hung on it', () => {
  expect(
    rerunReport(changed(), {
      rerun: 'rerun-1',
      of: 'shop:main',
      ends: { recorded: 0, now: 1, check: null },
      locationOf: (label, number) => ({ node: `${label}/${number}`, by: 'n:0:4:2' }),
    }),
  ).toEqual({
    rerun: 'rerun-1',
    of: 'shop:main',
    exit: 5,
    check: null,
    same: 0,
    bound: 1,
    differs: 1,
    extra: 0,
    missing: 1,
    calls: [
      {
        label: '@c1',
        how: 'bound',
        bindings: [{ kind: 'uuid', recorded: U, now: V }],
        difference: null,
        led_to: null,
      },
      {
        label: '@c2',
        how: 'differs',
        bindings: [],
        difference: {
          message: 3,
          role: 'tool',
          a: FOUND,
          b: 'pier-2: 9 ships at berth 1, tide 4.4 m',
          cause: 'tool result',
          node: '@c2/2',
          by: 'n:0:4:2',
        },
        led_to: { calls: 2, tokens: 1155 },
      },
      {
        label: '@c3',
        how: 'missing',
        bindings: [],
        difference: { message: null, role: null, a: null, b: null, cause: 'missing', node: null, by: null },
        led_to: null,
      },
    ],
    world: [],
  });
});

test('the text says what differs, why, and what to do next', () => {
  const lines = reportLines(changed(), {
    command: 'stemma rerun shop',
    canGoLive: true,
    ends: { recorded: 0, now: 1, check: null },
    recordedBy: () => '@s4 (n:0:4:2), 12 Nov, proxy',
  });
  expect(lines).toEqual([
    '@c1  same, 1 value bound: uuid 3f2a1b0c… is 9c41aaaa… here',
    '@c2  differs',
    '      message 3, result of lookup({"q":"pier-2"}), which @c1 asked for',
    '        pier-2: [-3-]{+9+} ships at berth [-7-]{+1+}, tide [-2-]{+4+}.[-1-]{+4+} m',
    '      cause: a tool gave something else; prompt, tools and parameters are the same',
    '      recorded by @s4 (n:0:4:2), 12 Nov, proxy; shown to @c2 … @c3 (2 calls, 1,155 tokens)',
    '@c3  missing',
    'same 0, bound 1, differs 1, missing 1 of 3     exit 5',
    '  stemma rerun shop --tools recorded -- …      does the rest hold if the tool says the same?',
    '  stemma rerun shop --from @c2 -- …            what does the model say to that?',
  ]);
});

test('the exit says whether a call differs, and else whether the agent ended otherwise', () => {
  const whole = run(
    first(V),
    second(V, FOUND),
    JSON.parse(JSON.stringify(third(FOUND)).replaceAll(U, V)) as WideJsonObject,
  );
  expect(whole.counts).toMatchObject({ bound: 3, differs: 0, missing: 0 });
  expect(rerunExit(whole, { recorded: 0, now: 0, check: null })).toBe(0);
  expect(rerunExit(whole, { recorded: 0, now: 1, check: null })).toBe(1);
  expect(rerunExit(whole, { recorded: null, now: 1, check: null })).toBe(0);
  expect(rerunExit(changed(), { recorded: 0, now: 0, check: null })).toBe(5);
  expect(rerunExit(whole, { recorded: 0, now: 0, check: 1 })).toBe(1);
  expect(rerunExit(whole, { recorded: 0, now: 0, check: 0 })).toBe(0);
  expect(rerunExit(run(first(U)), { recorded: 0, now: 0, check: null })).toBe(5);
});

test('what a text hides is shown', () => {
  const lines = reportLines(run(first(U), second(U, `${FOUND}\u202e`)), {
    command: 'stemma rerun shop',
    canGoLive: true,
    ends: { recorded: 0, now: 0, check: null },
    recordedBy: () => null,
  });
  expect(lines.join('\n')).toContain('\\u202e');
  expect(lines.join('\n')).not.toContain('\u202e');
});
