import { expect, it } from 'vitest';
import { excerptOf } from '../src/excerpt.ts';

it.each<[string, number, string, boolean]>([
  ['abcd', 4, 'abcd', true],
  ['abcde', 4, 'abcd', false],
  ['abc', 4, 'abc', true],
  ['abc🙂', 5, 'abc🙂', true],
  ['abc🙂d', 5, 'abc🙂', false],
  ['abc🙂', 4, 'abc', false],
  ['', 0, '', true],
  ['a', 0, '', false],
])('the excerpt of %j at a limit of %i is %j, complete: %s', (text, limit, shown, complete) => {
  expect(excerptOf(text, limit)).toEqual({ text: shown, form: 'text', characters: text.length, complete });
});

it('the excerpt of what is no text is of its JSON, whole if that is exactly the limit', () => {
  expect(excerptOf([1, 2], 5)).toEqual({ text: '[1,2]', form: 'json', characters: 5, complete: true });
  expect(excerptOf([1, 2], 4)).toEqual({ text: '[1,2', form: 'json', characters: 5, complete: false });
  expect(excerptOf(undefined, 5)).toBeNull();
});
