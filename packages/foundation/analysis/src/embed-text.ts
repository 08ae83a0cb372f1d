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
  const sums = new Float64Array(EMBEDDING_DIMENSION);
  countFeatures(text, (hash, count, weight) => {
    // Of a feature that is repeated, each time counts less.
    const value = weight * Math.sqrt(count);
    sums[hash % EMBEDDING_DIMENSION]! += hash >>> 31 === 1 ? -value : value;
  });
  let square = 0;
  for (let i = 0; i < EMBEDDING_DIMENSION; i++) square += sums[i]! * sums[i]!;
  const vector = new Float32Array(EMBEDDING_DIMENSION);
  // All features cancel each other out.
  if (square === 0) vector[0] = 1;
  else for (let i = 0; i < EMBEDDING_DIMENSION; i++) vector[i] = sums[i]! / Math.sqrt(square);
  return vector;
};

/*
 * A text of 1,000 characters has some 2,000 features, so they never become strings. The terms stand one after the other in
 * `units`, each between two signs that no term contains (`<search><orders>`). So a feature is a range of units, from within a
 * term for characters, from one term to the next for a pair, and two features are the same exactly when kind and units are. The feature
 * with number n begins at `starts[n]`; `slots` finds its number by its hash, as a hash table with open addressing.
 */
const OPEN = 0x3c;
const CLOSE = 0x3e;
const KINDS = ['word', 'pair', 'characters'] as const;
const [WORD, PAIR, CHARACTERS] = [0, 1, 2];

type Scratch = {
  readonly units: Uint16Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly kinds: Uint8Array;
  readonly hashes: Int32Array;
  readonly counts: Int32Array;
  readonly slots: Int32Array;
};

const scratchOf = (units: number, features: number): Scratch => ({
  units: new Uint16Array(units),
  starts: new Int32Array(features),
  ends: new Int32Array(features),
  kinds: new Uint8Array(features),
  hashes: new Int32Array(features),
  counts: new Int32Array(features),
  slots: new Int32Array(2 ** Math.ceil(Math.log2(features * 2))),
});

/** Kept from text to text; longer ones get their own. */
const KEPT_UNITS = 16_384;
const kept = scratchOf(KEPT_UNITS, featuresOf(KEPT_UNITS));

/** The most features that terms with so many units, signs included, can have: a word, a pair and the grams at each unit. */
function featuresOf(units: number): number {
  return 2 + units * (LENGTHS.length + 1);
}

/** Calls `visit` once for each different feature of a text, in the order in which they first come. */
const countFeatures = (text: string, visit: (hash: number, count: number, weight: number) => void): void => {
  const terms = termsOf(text);
  // A text without a letter or digit is what it is made of; an empty one has a direction of its own.
  if (terms.length === 0) {
    visit(mixed(hashOf(`t ${text}`)), 1, WEIGHTS.word);
    return;
  }
  let length = 0;
  for (const term of terms) length += term.length + 2;
  const { units, starts, ends, kinds, hashes, counts, slots } =
    length <= KEPT_UNITS ? kept : scratchOf(length, featuresOf(length));
  const features = featuresOf(length);
  let mask = 1;
  while (mask < features * 2) mask *= 2;
  slots.fill(0, 0, mask--);
  let found = 0;

  const isFeature = (n: number, kind: number, start: number, end: number): boolean => {
    if (kinds[n] !== kind || ends[n]! - starts[n]! !== end - start) return false;
    for (let i = start, j = starts[n]!; i < end; i++, j++) if (units[i] !== units[j]) return false;
    return true;
  };
  const add = (hash: number, kind: number, start: number, end: number): void => {
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (let n = slots[slot]!; n !== 0; n = slots[slot]!) {
      if (hashes[n - 1] === hash && isFeature(n - 1, kind, start, end)) {
        counts[n - 1]!++;
        return;
      }
      slot = (slot + 1) & mask;
    }
    hashes[found] = hash;
    kinds[found] = kind;
    starts[found] = start;
    ends[found] = end;
    counts[found] = 1;
    slots[slot] = ++found;
  };
  const hashUnits = (from: number, start: number, end: number): number => {
    let hash = from;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ units[i]!, PRIME);
    return hash;
  };

  let [at, before] = [0, 0];
  for (let t = 0; t < terms.length; t++) {
    const term = terms[t]!;
    const start = at;
    units[at++] = OPEN;
    for (let i = 0; i < term.length; i++) units[at++] = term.charCodeAt(i);
    units[at++] = CLOSE;
    add(hashUnits(BEFORE_WORD, start + 1, at - 1), WORD, start + 1, at - 1);
    if (t > 0) {
      const first = hashUnits(BEFORE_PAIR, before + 1, start - 1);
      add(hashUnits(Math.imul(first ^ SPACE, PRIME), start + 1, at - 1), PAIR, before + 1, at - 1);
    }
    for (const size of LENGTHS)
      for (let from = start; from < at; from = next(units, from)) {
        let end = from;
        let characters = 0;
        for (; characters < size && end < at; characters++) end = next(units, end);
        if (characters < size) break;
        add(hashUnits(BEFORE_CHARACTERS, from, end), CHARACTERS, from, end);
      }
    before = start;
  }
  for (let n = 0; n < found; n++) visit(mixed(hashes[n]!), counts[n]!, WEIGHTS[KINDS[kinds[n]!]!]);
};

/** Where the next character begins: terms have no halves of characters. */
const next = (units: Uint16Array, at: number): number => ((units[at]! & 0xfc00) === 0xd800 ? at + 2 : at + 1);

const PRIME = 0x01000193;
const SPACE = 0x20;

/** FNV-1a over the UTF-16 code units. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash;
};

/** The hash of what stands before a feature of each kind. */
const [BEFORE_WORD, BEFORE_PAIR, BEFORE_CHARACTERS] = [hashOf('w '), hashOf('p '), hashOf('c ')];

/** The bits of a hash, mixed as MurmurHash3 does at its end. */
const mixed = (hash: number): number => {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
};
