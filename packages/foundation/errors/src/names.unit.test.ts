import { expect, test } from 'vitest';
import { isName, nameOfText, nameOfWords } from './names.ts';

test.each([
  ['Where is my parcel? I ordered it on Monday.', 'Where-is-my-parcel-I-ordered'],
  ["Don't   refund 7731!", 'Dont-refund-7731'],
  ['👋 hi', 'hi'],
  ['你好，我的包裹在哪里？', '你好-我的包裹在哪里'],
  ['会'.repeat(100), '会'.repeat(16)],
  ['a\u202eb \u200b c', 'a-b-c'],
  ['x'.repeat(5_000), 'x'.repeat(48)],
  [' \n?!… ', undefined],
])('the first words of a text are a name: %j becomes %j', (text, name) => {
  expect(nameOfWords(text)).toBe(name);
});

test('a text becomes a name, or none, whatever it is', () => {
  for (const text of [
    '\u0301',
    '..',
    '-',
    '\ud800x',
    'é'.normalize('NFD'),
    '\u{1f600}',
    'a\u0301\u0302b',
    'ﷺ'.repeat(50),
  ]) {
    const name = nameOfText(text, 100);
    expect(name === undefined || isName(name)).toBe(true);
  }
});
