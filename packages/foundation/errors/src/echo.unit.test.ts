import { expect, it } from 'vitest';
import { errorToJson, fail } from './index.ts';
import { boundedSentence, echo } from './echo.ts';

it('an error repeats at most 200 characters of an input, and an input of exactly 200 unchanged', () => {
  expect(echo('x'.repeat(200))).toBe('x'.repeat(200));
  expect(echo('x'.repeat(201))).toBe('x'.repeat(199) + '…');
});

it('a shortened input is never cut within a character', () => {
  expect(echo('x'.repeat(198) + '🙂🙂')).toBe('x'.repeat(198) + '…');
});

it.each([
  ['a quoted text', JSON.stringify('long "words" of it '.repeat(1_000))],
  ['a word', '/'.padEnd(10_000, 'path/')],
  ['a quoted text that never ends', '"' + 'a b '.repeat(1_000)],
])('%s in a sentence is shortened and the text around it is kept', (_what, input) => {
  const sentence = boundedSentence(`there is no node ${input} at @c3`);
  expect(sentence.length).toBeLessThan(250);
  expect(sentence.startsWith('there is no node ')).toBe(true);
  if (!input.startsWith('"a b')) expect(sentence.endsWith(' at @c3')).toBe(true);
});

it('a long sentence of short words is kept up to 600 characters', () => {
  const sentence = 'words and more words '.repeat(20).trim();
  expect(boundedSentence(sentence)).toBe(sentence);
  expect(boundedSentence('word '.repeat(10_000)).length).toBe(600);
});

it('the sentence and the details of every error are bounded', () => {
  const { error } = errorToJson(
    fail('E_USAGE', `not ${'y'.repeat(5_000)}`, { given: 'z'.repeat(5_000), at: 7 }),
  );
  expect(error.message.length).toBeLessThanOrEqual(204);
  expect(error.detail).toEqual({ given: 'z'.repeat(199) + '…', at: 7 });
});
