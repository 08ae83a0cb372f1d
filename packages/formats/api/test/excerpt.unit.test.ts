import { expect, test } from 'vitest';
import { cutText, excerptOf, firstWords } from '../src/index.ts';

test('a text is never cut in the middle of a character', () => {
  expect(cutText('ab😀', 3)).toBe('ab');
  expect(cutText('ab😀', 4)).toBe('ab😀');
  expect(firstWords('  one\n\ttwo 😀 three', 9)).toBe('one two …');
});

test('the excerpt of a text is text; the excerpt of any other value is JSON with exact integers', () => {
  expect(excerptOf('hello', 3)).toEqual({ text: 'hel', form: 'text', characters: 5, complete: false });
  expect(excerptOf({ n: 2n ** 60n })).toMatchObject({ text: '{"n":1152921504606846976}', form: 'json' });
  expect(excerptOf(undefined)).toBeNull();
});

test.each<[string, number, string, boolean]>([
  ['abcd', 4, 'abcd', true],
  ['abcde', 4, 'abcd', false],
  ['abc🙂', 5, 'abc🙂', true],
  ['abc🙂d', 5, 'abc🙂', false],
  ['abc🙂', 4, 'abc', false],
  ['', 0, '', true],
  ['a', 0, '', false],
])('the excerpt of %j at a limit of %i is %j, complete: %s', (text, limit, shown, complete) => {
  expect(excerptOf(text, limit)).toEqual({ text: shown, form: 'text', characters: text.length, complete });
});

test('the excerpt of a value that is not a text is complete if its JSON has exactly the limit', () => {
  expect(excerptOf([1, 2], 5)).toEqual({ text: '[1,2]', form: 'json', characters: 5, complete: true });
  expect(excerptOf([1, 2], 4)).toEqual({ text: '[1,2', form: 'json', characters: 5, complete: false });
});
