import { firstWords } from '@stemma/api';
import { expect, test } from 'vitest';
import { callWords, grouped, shortId, shortDuration, shortNumber } from '../src/parts/words.ts';

test.each([
  ['{"function":{"name":"find","arguments":"{\\"id\\":1}"},"id":"call_1"}', 'find({"id":1})'],
  ['{"name":"find","arguments":{"id":1}}', 'find({"id":1})'],
  ['{"name":"now"}', 'now()'],
  ['{"content":"x"}', undefined],
  ['null', undefined],
  ['{"cut', undefined],
])('the tool call %s is written %s', (json, words) => {
  expect(callWords(json)).toBe(words);
});

test('texts of a list are shortened, and never within a character', () => {
  expect(firstWords('a\n\t b', 10)).toBe('a b');
  expect(firstWords('😀'.repeat(9), 3).isWellFormed()).toBe(true);
  expect([grouped(1), grouped(1234), grouped(1234567)]).toEqual(['1', '1,234', '1,234,567']);
  expect(shortId('hbq7itfrjcrqpflm4hrhw')).toBe('hbq7itfr…');
});

test('numbers and times for narrow columns stay short', () => {
  expect([0, 99_999, 100_400, 3_783_443].map(shortNumber)).toEqual(['0', '99,999', '100k', '3.78M']);
  expect([null, 0, 840, 1_200, 12_345].map(shortDuration)).toEqual(['–', '0ms', '840ms', '1.2s', '12.3s']);
});
