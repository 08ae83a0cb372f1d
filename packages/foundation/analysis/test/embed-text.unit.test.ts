import fc from 'fast-check';
import { expect, it } from 'vitest';
import { embedText, EMBEDDING_DIMENSION } from '../src/embed-text.ts';
import { termsOf } from '../src/terms/terms.ts';

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

/** The vector from features that are written out. */
const fromFeatures = (text: string): Float32Array => {
  const counts = new Map<string, { count: number; weight: number }>();
  const add = (feature: string, weight: number): void => {
    const found = counts.get(feature) ?? { count: 0, weight };
    counts.set(feature, { ...found, count: found.count + 1 });
  };
  const terms = termsOf(text);
  if (terms.length === 0) add(`t ${text}`, 1);
  for (const [i, term] of terms.entries()) {
    add(`w ${term}`, 1);
    if (i > 0) add(`p ${terms[i - 1] ?? ''} ${term}`, 0.7);
    const padded = Array.from(`<${term}>`);
    for (const length of [3, 4])
      for (let at = 0; at + length <= padded.length; at++)
        add(`c ${padded.slice(at, at + length).join('')}`, 0.35);
  }
  const sums = new Float64Array(EMBEDDING_DIMENSION);
  for (const [feature, { count, weight }] of counts) {
    const hash = hashOf(feature);
    const value = weight * Math.sqrt(count);
    sums[hash % EMBEDDING_DIMENSION]! += hash >>> 31 === 1 ? -value : value;
  }
  const square = sums.reduce((sum, each) => sum + each * each, 0);
  return Float32Array.from(sums, (sum) => sum / Math.sqrt(square));
};

const anyWord = fc.oneof(
  fc.constantFrom('the', 'a', "it's", 'don’t', 'ﬁne', 'naïve', '漢字', 'かな', '𐐷𐐨', '𝒳', '😀', '12', '-'),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const anyText = fc
  .array(fc.tuple(anyWord, fc.constantFrom('', ' ', ', ', '\n')), { maxLength: 40 })
  .map((words) => words.flat().join(''));

it('adds up the features of a text, each as often as it is there', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(embedText(text)).toEqual(fromFeatures(text));
    }),
  );
});

it('gives long texts the same vector, whichever came before', () => {
  const long = Array.from({ length: 4_000 }, (_, i) => `word${(i * i) % 977}`).join(' ');
  const [first] = [embedText('word1 word2'), embedText(long)];
  expect(embedText(long)).toEqual(fromFeatures(long));
  expect(embedText('word1 word2')).toEqual(first);
});
