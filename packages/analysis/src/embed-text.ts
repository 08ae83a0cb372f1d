import { termsOf } from './terms/terms.ts';
import type { Vectors } from './vectors.ts';

/** The dimension of built-in embeddings. */
export const EMBEDDING_DIMENSION = 512;

/** The name of what {@link embedTexts} computes: it changes when the vectors of the same texts do. */
export const EMBEDDER = 'stemma-ngrams-1';

/** What a feature of each kind weighs. */
const WEIGHTS = { word: 1, pair: 0.7, characters: 0.35 } as const;

/** Lengths of the character n-grams of a word, with a sign for its two ends. */
const LENGTHS = [3, 4] as const;

/**
 * A vector of length 1 for each text, computed without a model: words, pairs of neighbouring words and character n-grams are hashed
 * into its numbers (Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009). Texts that share words are near
 * each other; it knows nothing of meaning. The numbers are those of single precision, and the same everywhere.
 */
export const embedTexts = (texts: readonly string[]): Vectors => {
  const values = new Float64Array(texts.length * EMBEDDING_DIMENSION);
  for (const [i, text] of texts.entries()) values.set(embedText(text), i * EMBEDDING_DIMENSION);
  return { rows: texts.length, dimension: EMBEDDING_DIMENSION, values };
};

/** The vector of one text, as it is stored. */
export const embedText = (text: string): Float32Array => {
  const counts = new Map<string, { count: number; weight: number }>();
  const add = (feature: string, weight: number): void => {
    const found = counts.get(feature);
    if (found === undefined) counts.set(feature, { count: 1, weight });
    else found.count++;
  };
  const terms = termsOf(text);
  // A text without a letter or digit is what it is made of; an empty one has a direction of its own.
  if (terms.length === 0) add(`t ${text}`, WEIGHTS.word);
  for (const [i, term] of terms.entries()) {
    add(`w ${term}`, WEIGHTS.word);
    if (i > 0) add(`p ${terms[i - 1] ?? ''} ${term}`, WEIGHTS.pair);
    const padded = Array.from(`<${term}>`);
    for (const length of LENGTHS)
      for (let at = 0; at + length <= padded.length; at++)
        add(`c ${padded.slice(at, at + length).join('')}`, WEIGHTS.characters);
  }
  const sums = new Float64Array(EMBEDDING_DIMENSION);
  for (const [feature, { count, weight }] of counts) {
    const hash = hashOf(feature);
    // Of a feature that is repeated, each time counts less.
    const value = weight * Math.sqrt(count);
    sums[hash % EMBEDDING_DIMENSION]! += hash >>> 31 === 1 ? -value : value;
  }
  let square = 0;
  for (const sum of sums) square += sum * sum;
  // All features cancel each other out.
  if (square === 0) return Float32Array.from(sums, (_, k) => (k === 0 ? 1 : 0));
  return Float32Array.from(sums, (sum) => sum / Math.sqrt(square));
};

/** FNV-1a over the UTF-16 code units, its bits mixed as MurmurHash3 does at its end. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};
