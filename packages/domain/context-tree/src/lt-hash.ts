import { shake128Text } from '@stemma/canonical';

/** Lanes of 16 bits, little-endian (Bellare and Micciancio 1997; Lewi et al., "Securing Update Propagation with Homomorphic Hashing", 2019). */
export const SUM_BYTES = 2048;

/** The sum of no elements. */
export const emptySum = (): Uint8Array => new Uint8Array(SUM_BYTES);

/** True if the machine reads words in the order of the lanes: on practically every machine. */
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const WORDS = SUM_BYTES / 4;
/** The highest bits of the two lanes of a word, and the others. */
const HIGH = 0x8000_8000 | 0;
const LOW = 0x7fff_7fff;

/** Adds (or with `sign` -1 subtracts) an element in place: its bytes expanded to 2 KiB, lane by lane modulo 2^16. */
export const addToSum = (sum: Uint8Array, element: Uint8Array, sign: 1 | -1): void =>
  addLanes(sum, expand(element), sign);

const expand = (element: Uint8Array): string => shake128Text(element, SUM_BYTES);

const lanes = Buffer.alloc(SUM_BYTES);
const words = new Int32Array(lanes.buffer, lanes.byteOffset, WORDS);

/** Like {@link addToSum}, for an element that is already expanded. */
const addLanes = (sum: Uint8Array, expanded: string, sign: 1 | -1): void => {
  lanes.write(expanded, 0, 'latin1');
  addBytes(sum, lanes, words, sign);
};

/** @param inWords the same bytes as words */
const addBytes = (sum: Uint8Array, bytes: Uint8Array, inWords: Int32Array, sign: 1 | -1): void => {
  if (LITTLE_ENDIAN && sum.byteOffset % 4 === 0) {
    const to = new Int32Array(sum.buffer, sum.byteOffset, WORDS);
    if (sign === 1) addWords(to, inWords);
    else subtractWords(to, inWords);
    return;
  }
  for (let i = 0; i < SUM_BYTES; i += 2) {
    const a = (sum[i] as number) | ((sum[i + 1] as number) << 8);
    const b = (bytes[i] as number) | ((bytes[i + 1] as number) << 8);
    const c = a + sign * b;
    sum[i] = c & 0xff;
    sum[i + 1] = (c >> 8) & 0xff;
  }
};

// Two lanes at a time, with their highest bits separate, so that nothing carries from one into the other.
const addWords = (to: Int32Array, from: Int32Array): void => {
  for (let i = 0; i < WORDS; i++) {
    const a = to[i] as number;
    const b = from[i] as number;
    to[i] = ((a & LOW) + (b & LOW)) ^ ((a ^ b) & HIGH);
  }
};

const subtractWords = (to: Int32Array, from: Int32Array): void => {
  for (let i = 0; i < WORDS; i++) {
    const a = to[i] as number;
    const b = from[i] as number;
    to[i] = ((a | HIGH) - (b & LOW)) ^ ((a ^ ~b) & HIGH);
  }
};

/** What a child of a region adds to the sum, before expansion: msgpack([name of the region, digest]). */
export const element = (region: '^sys' | '^seq' | '^ah', digest: string): Uint8Array => {
  const name = region.length;
  const bytes = Buffer.allocUnsafe(name + 36);
  bytes[0] = 0x92;
  bytes[1] = 0xa0 | name;
  bytes.write(region, 2, 'latin1');
  bytes[name + 2] = 0xc4;
  bytes[name + 3] = 32;
  bytes.write(digest, name + 4, 'latin1');
  return bytes;
};

/** Expansions kept for subtraction, for all trees together: 4 MiB, outside of the heap, which is gone through again and again. */
const MOST_KEPT = 2_048;
let keptBytes: Buffer | undefined;

/** The place of each by region and digest, the oldest first. */
const kept = new Map<string, number>();
const freePlaces: number[] = [];

const placeFor = (key: string): number => {
  let place = freePlaces.pop();
  if (place === undefined && kept.size >= MOST_KEPT) {
    const [oldest, its] = kept.entries().next().value as [string, number];
    kept.delete(oldest);
    place = its;
  }
  place ??= kept.size;
  kept.set(key, place);
  return place;
};

/**
 * Adds a child of a region to the sum. `changing`: it will be subtracted before long, as a turn in which something
 * expires; its expansion, most of the work, is then kept.
 */
export const addChild = (
  sum: Uint8Array,
  region: '^sys' | '^seq',
  digest: string,
  changing: boolean,
): void => {
  addLanes(sum, expand(element(region, digest)), 1);
  if (!changing) return;
  const key = region + digest;
  keptBytes ??= Buffer.allocUnsafeSlow(MOST_KEPT * SUM_BYTES);
  keptBytes.set(lanes, (kept.get(key) ?? placeFor(key)) * SUM_BYTES);
};

/** Subtracts a child of a region from the sum. */
export const subtractChild = (sum: Uint8Array, region: '^sys' | '^seq', digest: string): void => {
  const key = region + digest;
  const place = kept.get(key);
  if (place === undefined || keptBytes === undefined) {
    addLanes(sum, expand(element(region, digest)), -1);
    return;
  }
  kept.delete(key);
  freePlaces.push(place);
  lanes.set(keptBytes.subarray(place * SUM_BYTES, (place + 1) * SUM_BYTES));
  addBytes(sum, lanes, words, -1);
};

/** The sum over children of `^seq` with these digests. */
export const sumOfTurns = (digests: Iterable<string>): Uint8Array => {
  const sum = emptySum();
  for (const digest of digests) addToSum(sum, element('^seq', digest), 1);
  return sum;
};

/** Adds another sum in place. */
export const addSum = (sum: Uint8Array, other: Uint8Array): void => {
  lanes.set(other);
  addBytes(sum, lanes, words, 1);
};
