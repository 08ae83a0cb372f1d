import { expect, test } from 'vitest';
import { matchByMessages } from '../src/match-call.ts';

/** Messages by what they say, each with the first letter of its role: `u` is a user's. */
const match = (call: readonly string[], branch: readonly string[]) =>
  matchByMessages(
    { common: 1, isUndone: false, answer: null, isAnswered: false },
    {
      call,
      branch,
      leading: { call: 1, branch: 1 },
      roleOf: (index) =>
        ({ s: 'system', u: 'user', a: 'assistant', t: 'tool' })[branch[index]?.[0] ?? 's'] ?? '',
    },
  );

const BRANCH = ['s:help', 'u:order', 'a:which?', 'u:go', 'a:done'];

test.each([
  ['another run of the task, told the same next', ['s:help', 'u:order', 'a:what?', 'u:go'], 'forked'],
  ['another question from an older call', ['s:help', 'u:order', 'a:which?', 'u:stop'], 'forked'],
  [
    'an edited turn with the answers after it',
    ['s:help', 'u:orders', 'a:which?', 'u:go', 'a:done', 'u:x'],
    'rewritten',
  ],
  ['a dropped turn', ['s:help', 'u:order', 'a:done', 'u:x'], 'rewritten'],
  ['the conversation cut short', ['s:help', 'u:order'], 'rewritten'],
  ['the conversation and more', [...BRANCH, 'u:x'], 'appended'],
])('%s: %j is %s', { tags: ['calls§3.3', 'calls§3.4'] }, (_what, call, expected) => {
  expect(match(call, BRANCH)).toBe(expected);
});
