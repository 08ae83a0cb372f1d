import { expect, it } from 'vitest';
import { HIDDEN_CHARACTERS, visibleText } from './visible-text.ts';

const between = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i)).join('');

it.each<[string, string]>([
  ['C0 controls except tab and line feed', between(0, 8) + between(0x0b, 0x1f)],
  ['C1 controls and delete', between(0x7f, 0x9f)],
  ['directions', '\u200e\u200f\u061c' + between(0x202a, 0x202e) + between(0x2066, 0x2069)],
  ['zero widths', between(0x200b, 0x200d) + '\u2060\ufeff\u00ad'],
  ['separators of lines and paragraphs', '\u2028\u2029'],
  ['tags', between(0xe0000, 0xe007f)],
])('visibleText shows each of the %s', (_what, text) => {
  const shown = visibleText(`a${text}b`);
  expect(shown).toMatch(/^a(\\u[\da-f]{4})+b$/);
  expect(shown.search(HIDDEN_CHARACTERS)).toBe(-1);
  expect(JSON.parse(`"${shown}"`)).toBe(`a${text}b`);
});

it('visibleText does not change visible characters', () => {
  const text = 'Grüße, 日本語, 🙂\n\ttab';
  expect(visibleText(text)).toBe(text);
});

it('visibleText shows unpaired surrogates and keeps whole pairs', () => {
  expect(visibleText('\ud83d \ud83d\ude42 \ude42')).toBe('\\ud83d 🙂 \\ude42');
});

it('visibleText keeps the value of JSON', () => {
  const value = { '\u202e': ['\u0000\u009b31m', '\\u202e', '\u{e0041}'] };
  expect(JSON.parse(visibleText(JSON.stringify(value)))).toEqual(value);
});
