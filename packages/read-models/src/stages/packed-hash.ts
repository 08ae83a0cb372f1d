import { addSha256Block, SHA256_START } from '@stemma/stages';

/**
 * SHA-256 of a text so far, as it lies in a row: eight words, the number of bytes, and those behind the last whole block.
 * What is done with it is what {@link addText} and {@link endHash} of the stages do, without taking it apart for each
 * frame.
 */
export type PackedHash = Uint8Array;

const WORDS = 32;
const HEAD = WORDS + 8;
const BLOCK = 64;

/** Written over at every call. */
let scratch = Buffer.alloc(16 * 1024);
const words = new Int32Array(8);

/** The state behind an ASCII text. */
export const startPacked = (text: string): PackedHash => {
  const empty = new Uint8Array(HEAD);
  const view = new DataView(empty.buffer);
  SHA256_START.forEach((word, i) => view.setInt32(4 * i, word));
  return addPacked(empty, text);
};

/** The state behind a further ASCII text; the one given stays as it is. */
export const addPacked = (state: PackedHash, text: string): PackedHash => {
  if (text === '') return state;
  const filled = load(state, text);
  const whole = filled & -BLOCK;
  compress(state, whole);
  const next = new Uint8Array(HEAD + filled - whole);
  const view = new DataView(next.buffer);
  storeWords(view);
  const length = lengthOf(state) + text.length;
  view.setUint32(WORDS, Math.floor(length / 0x1_0000_0000));
  view.setUint32(WORDS + 4, length >>> 0);
  next.set(scratch.subarray(whole, filled), HEAD);
  return next;
};

/** SHA-256 (32 bytes) of all that was added, and of an ASCII text behind it. */
export const endPacked = (state: PackedHash, text: string): Uint8Array => {
  const filled = load(state, text);
  const length = lengthOf(state) + text.length;
  const end = (filled & -BLOCK) + (filled % BLOCK < BLOCK - 8 ? BLOCK : 2 * BLOCK);
  scratch.fill(0, filled, end);
  scratch[filled] = 0x80;
  scratch.writeUInt32BE(Math.floor(length / 0x2000_0000), end - 8);
  scratch.writeUInt32BE((length * 8) % 0x1_0000_0000, end - 4);
  compress(state, end);
  const hash = new Uint8Array(WORDS);
  storeWords(new DataView(hash.buffer));
  return hash;
};

/** Puts the bytes that fill no block, and the text behind them, into the scratch: how many they are. */
const load = (state: PackedHash, text: string): number => {
  const held = state.length - HEAD;
  const filled = held + text.length;
  if (scratch.length < filled + 2 * BLOCK) scratch = Buffer.alloc(2 * filled + 2 * BLOCK);
  scratch.set(state.subarray(HEAD), 0);
  scratch.write(text, held, 'latin1');
  return filled;
};

const compress = (state: PackedHash, end: number): void => {
  for (let i = 0; i < 8; i++) words[i] = int32(state, 4 * i);
  for (let at = 0; at < end; at += BLOCK) addSha256Block(words, scratch, at);
};

const int32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 24) |
  ((bytes[at + 1] as number) << 16) |
  ((bytes[at + 2] as number) << 8) |
  (bytes[at + 3] as number);

const storeWords = (view: DataView): void => {
  for (let i = 0; i < 8; i++) view.setInt32(4 * i, words[i] as number);
};

const lengthOf = (state: PackedHash): number =>
  (int32(state, WORDS) >>> 0) * 0x1_0000_0000 + (int32(state, WORDS + 4) >>> 0);

/** Several states in one value: each says itself how long it is. */
export const joinPacked = (states: readonly PackedHash[]): Uint8Array => {
  let length = 0;
  for (const state of states) length += state.length;
  const all = new Uint8Array(length);
  let at = 0;
  for (const state of states) {
    all.set(state, at);
    at += state.length;
  }
  return all;
};

export const splitPacked = (all: Uint8Array): readonly PackedHash[] => {
  const states: PackedHash[] = [];
  for (let at = 0; at < all.length;) {
    const end = at + HEAD + (lengthOf(all.subarray(at, at + HEAD)) % BLOCK);
    states.push(all.subarray(at, end));
    at = end;
  }
  return states;
};
