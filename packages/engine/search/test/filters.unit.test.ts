import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLike, isThat, parseFilters, wordsOfSearch } from '../src/index.ts';

const NOW = Date.UTC(2026, 10, 29);

test('filters are taken out of a search, and the rest stays as it was typed', () => {
  expect(
    parseFilters('refund tool:lookup failed:true calls:>10 -model:gpt* "New York" since:7d', NOW),
  ).toEqual({
    filters: [
      { field: 'tool', value: 'lookup', not: false },
      { field: 'failed', is: '>', than: 0, not: false },
      { field: 'calls', is: '>', than: 10, not: false },
      { field: 'model', value: 'gpt*', not: true },
      { field: 'since', at: NOW - 7 * 86_400_000, not: false },
    ],
    text: 'refund "New York"',
  });
  expect(parseFilters('tool:"my tool" cost:<=0.5 until:2026-11-20', NOW).filters).toEqual([
    { field: 'tool', value: 'my tool', not: false },
    { field: 'cost', is: '<=', than: 0.5, not: false },
    { field: 'until', at: Date.UTC(2026, 10, 20), not: false },
  ]);
});

test('an address is text, and a field that is nearly one is refused', () => {
  expect(parseFilters('https://example.org a:b', NOW)).toEqual({
    filters: [],
    text: 'https://example.org a:b',
  });
  expect(() => parseFilters('toool:x', NOW)).toThrow(
    expect.objectContaining({ code: 'E_SEARCH_INVALID' }) as Error,
  );
  expect(() => parseFilters('modle:x', NOW)).toThrow('is model: meant?');
});

test.each(['calls:many', 'calls:', 'since:yesterday', 'since:2026-13-45', 'tool:', 'tool:""', 'cost:1e9'])(
  '%s is refused',
  (query) => {
    expect(() => parseFilters(query, NOW)).toThrow(
      expect.objectContaining({ code: 'E_SEARCH_INVALID' }) as Error,
    );
  },
);

test('any query is read or refused with a code', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 1_200 }), (query) => {
      try {
        parseFilters(query, NOW);
      } catch (error) {
        expect(error).toMatchObject({ code: 'E_SEARCH_INVALID' });
      }
    }),
  );
});

test('words and phrases are told apart', () => {
  expect(wordsOfSearch('task -"New York" "a b"* -old')).toEqual([
    { text: 'task', isPhrase: false, not: false },
    { text: 'New York', isPhrase: true, not: true },
    { text: 'a b', isPhrase: true, not: false },
    { text: 'old', isPhrase: false, not: true },
  ]);
});

test('a star stands for any characters', () => {
  expect(['claude-3', 'Claude', 'xclaude'].map((text) => isLike(text, 'claude*'))).toEqual([
    true,
    true,
    false,
  ]);
  expect(['abc', 'ac', 'aXbXc'].map((text) => isLike(text, 'a*b*c'))).toEqual([true, false, true]);
  expect(isLike('aa', 'aa*aa')).toBe(false);
  expect(isLike('tool', 'too')).toBe(false);
});

test('a number is compared, and what is no number is never let through', () => {
  expect([1, 2, 3].map((value) => isThat(value, { is: '>=', than: 2 }))).toEqual([false, true, true]);
  expect(isThat(NaN, { is: '<', than: 2 })).toBe(false);
});
