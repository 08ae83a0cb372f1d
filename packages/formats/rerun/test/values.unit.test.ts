import type { WideJsonObject } from '@stemma/canonical';
import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS, openRerun, proposeMasks, type RerunOptions } from '../src/index.ts';
import { maskMatcher } from '../src/values/mask-pattern.ts';
import { openTokenizer } from '../src/values/tokens.ts';
import { attempt, conversation, cycle, LIVE_AT, message, RECORDED_AT, result } from './agents.ts';

/** How a call with one message is judged against a recorded one. */
const judged = (
  recorded: WideJsonObject,
  now: WideJsonObject,
  options: Partial<RerunOptions> = {},
): unknown => {
  const request = (each: WideJsonObject): WideJsonObject => ({ messages: [each] });
  const recording = {
    conversations: [
      conversation('main', [cycle({ label: '@c1', request: request(recorded), attempts: [attempt()] })]),
    ],
  };
  const match = openRerun(recording, { ...DEFAULT_OPTIONS, ...options }).match(
    { api: 'openai.chat', path: null, request: request(now) },
    LIVE_AT,
  );
  return match.kind === 'serve' ? match.bindings.map(({ kind }) => kind) : match.kind;
};

const user = (content: string): WideJsonObject => message('user', content);
const tool = (content: string): WideJsonObject => result('call_1', content);

describe('a value is bound', () => {
  test.each([
    ['uuid', 'a 3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff', 'a 0f0e0d0c-1234-4222-8333-444455556666'],
    ['ulid', 'a 01ARZ3NDEKTSV4RRFFQ69G5FAV', 'a 01BX5ZZKBKACTAV9WEVGEMMVRZ'],
    ['nanoid', 'a V1StGXR8_Z5jdHi6B-myT', 'a b9StGXR8_Z5jdHi6B-my7'],
    ['hex', 'a 5d41402abc4b2a76', 'a 7d793037a0760186'],
    ['call id', 'a req_011CSabcdef', 'a req_022DTxyz123'],
    ['time', 'at 2026-11-12T10:00:03.25Z', 'at 2026-11-28T01:30:59Z'],
    ['time', 'at 2026-11-12 10:00:03', 'at 2026-11-28 01:29:59'],
    ['time', 'at Thu, 12 Nov 2026 10:00:03 GMT', 'at Sat, 28 Nov 2026 01:30:01 GMT'],
    ['time', 'at Thu Nov 12 10:00:03 2026', 'at Sat Nov 28 01:30:01 2026'],
    ['time', 'at 20261112_100003', 'at 20261128_013001'],
    ['time', 'at 2026-11-12T11:00:03+01:00', 'at 2026-11-28T02:30:03+01:00'],
    ['time', 'local 2026-11-12 12:00:03', 'local 2026-11-28 03:30:00'],
    ['date', 'today is 2026-11-12', 'today is 2026-11-28'],
    ['date', 'today is Thursday, November 12, 2026', 'today is Saturday, November 28, 2026'],
    ['date', 'today is 12/11/2026', 'today is 28/11/2026'],
    ['clock', 'at 10:01', 'at 01:32'],
    ['epoch', 'at 1794477601', `at ${Number(LIVE_AT / 1_000_000_000n)}`],
    ['epoch', `at ${Number(RECORDED_AT / 1_000_000n)}`, `at ${Number(LIVE_AT / 1_000_000n) + 5}`],
    ['path', 'in /tmp/tmp8f3/a.txt', 'in /tmp/tmpq_1/a.txt'],
    ['path', 'in /var/folders/x1/abc_d/T/run-1/a', 'in /tmp/run-2/a'],
    [
      'path',
      'in C:\\Users\\Ann\\AppData\\Local\\Temp\\a1\\b',
      'in C:\\Users\\Bob\\AppData\\Local\\Temp\\c2\\b',
    ],
  ])('of kind %s: %s', (kind, recorded, now) => {
    expect(judged(user(recorded), user(now))).toEqual([kind]);
  });

  test.each([
    ['duration', '3 passed in 0.12s', '3 passed in 1.5s'],
    ['duration', '{"elapsed_ms": 12}', '{"elapsed_ms": 9}'],
    ['size', 'wrote 120 bytes', 'wrote 99 bytes'],
    ['port', 'listening on port 54321', 'listening on port 40001'],
    ['port', 'http://127.0.0.1:54321/', 'http://127.0.0.1:40001/'],
    ['pid', 'pid=4711', 'pid=12'],
  ])('in results of tools only: %s in %s', (kind, recorded, now) => {
    expect(judged(tool(recorded), tool(now))).toEqual([kind]);
    expect(judged(user(recorded), user(now))).toBe('differs');
  });

  test('in the arguments of tools, behind escapes too', () => {
    const asking = (id: string): WideJsonObject => ({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'f', arguments: JSON.stringify({ q: `\n${id}` }) },
        },
      ],
    });
    expect(
      judged(asking('3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff'), asking('0f0e0d0c-1234-4222-8333-444455556666')),
    ).toEqual(['uuid']);
  });

  test('under the folder of the workspace, if that has moved', () => {
    const folders = [{ recorded: '/recorded/shop', now: '/moved/shop' }];
    expect(judged(user('read /recorded/shop/a.ts'), user('read /moved/shop/a.ts'), { folders })).toEqual([
      'path',
    ]);
    expect(judged(user('read /recorded/shop2/a.ts'), user('read /moved/shop/a.ts'), { folders })).toBe(
      'differs',
    );
  });
});

describe('a value is not bound', () => {
  test.each([
    ['a word', 'ships', 'boats'],
    ['a number', 'tide 2.1 m', 'tide 4.4 m'],
    ['another shape', 'a 5d41402abc4b2a76', 'a 3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff'],
    ['a date that is not that of its call', 'on 2026-12-24', 'on 2026-11-28'],
    ['a time of another day', 'at 2026-11-11T10:00:03Z', 'at 2026-11-28T01:30:00Z'],
    ['a clock that is not that of its call', 'at 15:00', 'at 01:30'],
    ['a long number', 'card 4000123412341234', 'card 4000123412341235'],
    ['another file in the same folder', 'in /tmp/tmp8f3/a.txt', 'in /tmp/tmpq_1/b.txt'],
    ['a plain word of 21 letters', 'characteristicallyoff', 'uncharacteristicallyy'],
  ])('%s: %s', (_what, recorded, now) => {
    expect(judged(user(recorded), user(now))).toBe('differs');
  });

  test('a local time that is of another zone than the one before', () => {
    expect(
      judged(
        user('2026-11-12 12:00:00 and 2026-11-12 15:00:00'),
        user('2026-11-28 01:30:00 and 2026-11-28 01:30:00'),
      ),
    ).toBe('differs');
  });

  test('the text of our own marks', () => {
    expect(judged(user('⟨uuid⟩'), user('3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff'))).toBe('differs');
    expect(judged(user('⟨uuid⟩'), user('⟨uuid⟩'))).toEqual([]);
  });
});

describe('hostile texts', () => {
  const HOSTILE = [
    '1'.repeat(100_000),
    'a'.repeat(100_000),
    '1.'.repeat(50_000),
    '/tmp/'.repeat(20_000),
    '2026-11-12T'.repeat(9_000),
    'call_'.repeat(20_000),
    '-_'.repeat(50_000),
    '\\u0041\\n'.repeat(12_000),
    'Thursday, '.repeat(10_000),
    '⟨uuid⟩'.repeat(10_000),
  ];

  test('are gone through once', () => {
    const tokenize = openTokenizer(['/home/ann'], []);
    for (const text of HOSTILE) expect(tokenize(text, 'tool').length).toBeLessThan(text.length / 7);
  });

  test('differ where they differ', () => {
    for (const text of HOSTILE) expect(judged(user(text), user(`${text}!`))).toBe('differs');
  });

  test('do not slow a mask', () => {
    const steps: number[] = [];
    for (const pattern of ['(a|a)*!', '(1+)+!', '\\d{1,200}!', '(a*)*(b*)*!'])
      for (const text of HOSTILE)
        steps.push(maskMatcher({ name: 'm', pattern, in: 'any' }).find(text).length);
    expect(steps.every((count) => count === 0)).toBe(true);
  });
});

describe('masks', () => {
  test.each([
    '(',
    'a)',
    '[a',
    'a{9,1}',
    'a*',
    '',
    '(?=a)',
    '\\b',
    '^a',
    '+',
    'a{300}',
    '((a{99}){99}){99}',
    '(){256}'.repeat(9),
  ])('a pattern that cannot be used is refused: %s', (pattern) => {
    expect(() => maskMatcher({ name: 'm', pattern, in: 'any' })).toThrow(
      'the pattern of the mask m cannot be used',
    );
  });

  test.each([
    ['\\d+', 'a12b345', ['12', '345']],
    ['[A-Fa-f\\d]{2,3}|x', 'abcd x', ['abc', 'x']],
    ['(?:ab)+c?', 'ababc ab', ['ababc', 'ab']],
    ['a.?c', 'abc ac a\nc', ['abc', 'ac']],
    ['[^ ]+@\\w+\\.de', 'to ann@b.de now', ['ann@b.de']],
  ])('%s finds the longest everywhere', (pattern, text, expected) => {
    const found = maskMatcher({ name: 'm', pattern, in: 'any' }).find(text);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual(expected);
  });

  test('what a mask takes is bound, where it holds', () => {
    const masks = [{ name: 'day', pattern: 'today is [A-Z][a-z]+', in: 'user' as const }];
    expect(judged(user('today is Friday.'), user('today is Monday.'), { masks })).toEqual(['mask']);
    expect(
      judged(message('system', 'today is Friday.'), message('system', 'today is Monday.'), { masks }),
    ).toBe('differs');
    expect(judged(user('today is Friday.'), user('today is Monday!'), { masks })).toBe('differs');
  });

  test('two reruns of one program propose masks for what differs between them', () => {
    const observed = (day: string, id: string) => [
      {
        label: '@c1',
        messages: [
          { role: 'system', message: message('system', `today is ${day}, order ${id}.`) },
          { role: 'user', message: user('Hello.') },
        ],
      },
    ];
    const proposed = proposeMasks(
      observed('Friday', '3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff'),
      observed('Monday', '0f0e0d0c-1234-4222-8333-444455556666'),
    );
    expect(proposed).toEqual([
      {
        mask: { name: 'system-1', pattern: 'today is [A-Za-z]{1,64}, order ', in: 'system' },
        label: '@c1',
        message: 0,
        first: 'Friday',
        second: 'Monday',
      },
    ]);
    const masks = proposed.map(({ mask }) => mask);
    const id = '3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff';
    expect(proposeMasks(observed('Friday', id), observed('Monday', id), masks)).toEqual([]);
    expect(
      judged(message('system', 'today is Friday, order 1.'), message('system', 'today is Sunday, order 1.'), {
        masks,
      }),
    ).toEqual(['mask']);
  });
});
