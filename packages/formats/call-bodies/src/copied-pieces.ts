import { compareBytes } from '@stemma/canonical';

/** `[length]`: the next so many bytes that are the body's own; `[offset, length]`: a copy of the base. */
export type BodyPiece = readonly [length: number] | readonly [offset: number, length: number];

/** A copy that is shorter costs as much as it saves. */
const LEAST = 48;

/** Blocks of the base that are looked for between its ends. */
const BLOCK = 64;

/**
 * How a body is made of a base and of bytes of its own. The next request of a conversation usually has the beginning and the end of
 * the one before; between these, blocks of the base are found wherever they are, as rsync does (Tridgell, Mackerras 1996).
 */
export const cutPieces = (base: Uint8Array, body: Uint8Array): BodyPiece[] => {
  const head = commonPrefix(base, body);
  const tail = commonSuffix(base.subarray(head), body.subarray(head));
  const pieces: BodyPiece[] = [];
  addCopy(pieces, 0, head);
  const middle = body.subarray(head, body.length - tail);
  const known = base.subarray(head, base.length - tail);
  for (const [first, length] of middlePieces(known, middle))
    if (length === undefined) addOwn(pieces, first);
    else addCopy(pieces, head + first, length);
  addCopy(pieces, base.length - tail, tail);
  return pieces;
};

const addOwn = (pieces: BodyPiece[], length: number): void => {
  if (length === 0) return;
  const last = pieces.at(-1);
  if (last?.length === 1) pieces[pieces.length - 1] = [last[0] + length];
  else pieces.push([length]);
};

const addCopy = (pieces: BodyPiece[], offset: number, length: number): void => {
  const last = pieces.at(-1);
  if (last?.length === 2 && last[0] + last[1] === offset)
    pieces[pieces.length - 1] = [last[0], last[1] + length];
  else if (length < LEAST) addOwn(pieces, length);
  else pieces.push([offset, length]);
};

const middlePieces = (base: Uint8Array, body: Uint8Array): BodyPiece[] => {
  const pieces: BodyPiece[] = [];
  if (base.length < BLOCK || body.length < BLOCK) {
    addOwn(pieces, body.length);
    return pieces;
  }
  const blocks = new Map<number, number>();
  for (let at = 0; at + BLOCK <= base.length; at += BLOCK) {
    const sum = sumOf(base, at);
    if (!blocks.has(sum)) blocks.set(sum, at);
  }
  let own = 0;
  let sum = sumOf(body, 0);
  for (let at = 0; at + BLOCK <= body.length;) {
    const found = blocks.get(sum);
    if (
      found === undefined ||
      compareBytes(base.subarray(found, found + BLOCK), body.subarray(at, at + BLOCK)) !== 0
    ) {
      if (at + BLOCK < body.length) sum = rolled(sum, body[at] as number, body[at + BLOCK] as number);
      at += 1;
      continue;
    }
    const before = commonSuffix(base.subarray(0, found), body.subarray(own, at));
    const after = commonPrefix(base.subarray(found), body.subarray(at));
    addOwn(pieces, at - before - own);
    addCopy(pieces, found - before, before + after);
    at += after;
    own = at;
    if (at + BLOCK <= body.length) sum = sumOf(body, at);
  }
  addOwn(pieces, body.length - own);
  return pieces;
};

/** Of a block, so that the sum of the next one follows from it: a polynomial in 32 bits (Karp, Rabin 1987). */
const FACTOR = 0x01000193;
const sumOf = (bytes: Uint8Array, at: number): number => {
  let sum = 0;
  for (let i = at; i < at + BLOCK; i++) sum = (Math.imul(sum, FACTOR) + (bytes[i] as number)) | 0;
  return sum;
};
const HIGHEST = (() => {
  let power = 1;
  for (let i = 1; i < BLOCK; i++) power = Math.imul(power, FACTOR);
  return power;
})();
const rolled = (sum: number, leaves: number, enters: number): number =>
  (Math.imul((sum - Math.imul(leaves, HIGHEST)) | 0, FACTOR) + enters) | 0;

const STEP = 4_096;

const commonPrefix = (a: Uint8Array, b: Uint8Array): number => {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at + STEP <= most && compareBytes(a.subarray(at, at + STEP), b.subarray(at, at + STEP)) === 0)
    at += STEP;
  while (at < most && a[at] === b[at]) at++;
  return at;
};

const commonSuffix = (a: Uint8Array, b: Uint8Array): number => {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (
    n + STEP <= most &&
    compareBytes(
      a.subarray(a.length - n - STEP, a.length - n),
      b.subarray(b.length - n - STEP, b.length - n),
    ) === 0
  )
    n += STEP;
  while (n < most && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
};
