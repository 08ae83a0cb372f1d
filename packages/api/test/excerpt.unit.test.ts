import { expect, test } from 'vitest';
import { cutText, excerptOf, firstWords } from '../src/index.ts';

test('a text is never cut in the middle of a character', () => {
  expect(cutText('ab😀', 3)).toBe('ab');
  expect(cutText('ab😀', 4)).toBe('ab😀');
  expect(firstWords('  one\n\ttwo 😀 three', 9)).toBe('one two …');
});

test('an excerpt of a text is a text, of anything else its JSON with exact integers', () => {
  expect(excerptOf('hello', 3)).toEqual({ text: 'hel', form: 'text', characters: 5, complete: false });
  expect(excerptOf({ n: 2n ** 60n })).toMatchObject({ text: '{"n":1152921504606846976}', form: 'json' });
  expect(excerptOf(undefined)).toBeNull();
});
