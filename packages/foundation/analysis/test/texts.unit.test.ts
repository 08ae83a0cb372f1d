import { expect, test } from 'vitest';
import { cosineDistance, embedText, embedTexts, rowOf, termsOf, vocabularyOf } from '../src/index.ts';

test.each([
  ["Don't stop — the POOL’s 3.5 rules!", ["don't", 'stop', 'the', "pool's", '3', '5', 'rules']],
  ['ﬁne Straße ÉCOLE', ['fine', 'straße', 'école']],
  ['日本語 ok 東京タワー', ['日', '本', '語', 'ok', '東', '京', 'タ', 'ワ', 'ー']],
  ['नमस्ते दुनिया', ['नमस्ते', 'दुनिया']],
  ['  … !?', []],
])('the terms of %j', { tags: ['pool§7.12'] }, (text, terms) => {
  expect(termsOf(text)).toEqual(terms);
});

test('a vocabulary is in the order of code units and counts each text', () => {
  expect(vocabularyOf(['b a b', '', 'Z'])).toEqual({
    terms: ['a', 'b', 'z'],
    texts: [
      [
        [0, 1],
        [1, 2],
      ],
      [],
      [[2, 1]],
    ],
  });
});

test('an embedding has length 1, whatever the text, and is the same whenever it is computed', () => {
  const texts = ['Is this reversible?', '', '!?', 'a', 'long '.repeat(500)];
  for (const text of texts) {
    const vector = embedText(text);
    expect(Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))).toBeCloseTo(1, 5);
    expect(embedText(text)).toEqual(vector);
  }
});

test('the first numbers of an embedding are those that were stored', { tags: ['pool§6.6'] }, () => {
  const vector = embedText('Who samples the sampler?');
  const found = [...vector].flatMap((value, k) => (value === 0 ? [] : [[k, Number(value.toFixed(6))]]));
  expect(found.slice(0, 6)).toMatchInlineSnapshot(`
    [
      [
        0,
        -0.358517,
      ],
      [
        6,
        -0.125481,
      ],
      [
        44,
        -0.125481,
      ],
      [
        80,
        0.125481,
      ],
      [
        81,
        0.177457,
      ],
      [
        98,
        0.125481,
      ],
    ]
  `);
});

test('texts that share words are nearer than those that share none', () => {
  const vectors = embedTexts([
    'I would like to cancel my flight to Boston',
    'Please cancel the flight to Boston that I booked',
    'The volcano erupted over the sleeping village',
  ]);
  const distance = (a: number, b: number): number => cosineDistance(rowOf(vectors, a), rowOf(vectors, b));
  expect(distance(0, 1)).toBeLessThan(0.7);
  expect(distance(0, 2)).toBeGreaterThan(0.8);
});
