import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { tokenCounter } from '../src/sizes/tokens.ts';

const options = { disallowedSpecial: new Set<string>() };
const sum = (pieces: readonly string[]): number =>
  pieces.reduce((all, piece) => all + countTokens(piece, options), 0);
/** A run of letters that the tokenizer does not find whole in its tables. */
const run = (length: number): string =>
  Array.from({ length }, (_, i) => String.fromCharCode(97 + ((i * i * 7 + i * 3) % 26))).join('');

test('a text whose runs are short counts as the tokenizer counts it whole, however long it is', async () => {
  const counter = await tokenCounter();
  expect(counter.name).toBe('o200k_base');
  const word = fc.constantFrom('lamp', 'late', ' ', '  ', '\n', '漢字', '🏮', 'x'.repeat(500), '\t', ' 12');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (words) => {
      const text = words.join(' ');
      expect(counter.count(text)).toBe(countTokens(text, options));
    }),
    { numRuns: 30 },
  );
  const long = `${'The lamp is here, and late. '.repeat(700)}\n${run(200)} `.repeat(3);
  expect(counter.count(long)).toBe(countTokens(long, options));
});

test('a run of more than 512 characters counts in pieces of 512, which begin anew with the next run', async () => {
  const counter = await tokenCounter();
  const whole = run(2_000);
  for (const length of [511, 512, 513, 1_023, 1_024, 1_025, 2_000]) {
    const text = whole.slice(0, length);
    const pieces = Array.from({ length: Math.ceil(length / 512) }, (_, i) =>
      text.slice(i * 512, (i + 1) * 512),
    );
    expect(counter.count(text), `${length}`).toBe(sum(pieces));
    // Twice: the blank ends the run, and what is behind it counts from its own beginning.
    const [last = ''] = pieces.slice(-1);
    expect(counter.count(`${text} ${text}`), `twice ${length}`).toBe(
      sum([...pieces.slice(0, -1), `${last} ${pieces[0] ?? ''}`, ...pieces.slice(1)]),
    );
  }
  const blanks = '\n'.repeat(700);
  expect(counter.count(`${run(300)}${blanks}`)).toBe(
    sum([`${run(300)}${blanks.slice(0, 512)}`, blanks.slice(512)]),
  );
});

// The last two have the first and the last of the second halves.
test.each(['🏮', '😀', '𐀀', '\u{10fff}'])('a surrogate pair is not cut: %s', async (character) => {
  const counter = await tokenCounter();
  const all = character.repeat(600);
  expect(counter.count(all)).toBe(sum([all.slice(0, 512), all.slice(512, 1_024), all.slice(1_024)]));
  const shifted = `x${all}`;
  expect(counter.count(shifted)).toBe(
    sum([shifted.slice(0, 513), shifted.slice(513, 1_025), shifted.slice(1_025)]),
  );
});

test('the first character behind the halves is cut as others are', async () => {
  const counter = await tokenCounter();
  const text = `${run(512)}\ue000${run(1_600)}`;
  const [here, next] = [512, 513].map((at) =>
    sum([0, at, at + 512, at + 1_024, at + 1_536].map((from, i, cuts) => text.slice(from, cuts[i + 1]))),
  );
  expect(counter.count(text)).toBe(here);
  expect(next).not.toBe(here);
});

test('short words with a blank behind each are counted as a whole', async () => {
  const counter = await tokenCounter();
  const text = 'a '.repeat(1_000);
  expect(counter.count(text)).toBe(countTokens(text, options));
});
