/**
 * Short texts that were read lately, by a hash of their length, first, middle and last byte: most keys, and values such
 * as roles and types, are among a few dozen. Bounded: a slot holds the last one. ASCII only. Not `lru-cache`: its keys are
 * texts or objects, and what is saved here is making the text.
 */
const SLOTS = 1024;
const texts = new Array<string>(SLOTS).fill('');

/** Longer texts are not cached. */
export const MAX_CACHED = 32;

type Slice = (this: Uint8Array, start: number, end: number) => string;

/**
 * What `toString` of a Buffer comes to, without the way there, and of any bytes: to make a Buffer of them takes as long as a short
 * text. The types of Node leave both out.
 */
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: Slice;
  readonly utf8Slice: Slice;
};
export { utf8Slice };

/**
 * The ASCII text of 1 to {@link MAX_CACHED} bytes that begins at `start`, kept for next time; undefined if a byte is not
 * ASCII.
 */
export const cachedText = (bytes: Uint8Array, start: number, length: number): string | undefined => {
  const slot =
    ((bytes[start] as number) * 31 +
      (bytes[start + (length >> 1)] as number) * 131 +
      (bytes[start + length - 1] as number) * 7 +
      length) &
    (SLOTS - 1);
  const kept = texts[slot] as string;
  if (kept.length === length && isAt(kept, bytes, start)) return kept;
  for (let i = start; i < start + length; i++) if ((bytes[i] as number) >= 0x80) return undefined;
  return (texts[slot] =
    length < SHORT ? shortText(bytes, start, length) : latin1Slice.call(bytes, start, start + length));
};

/**
 * From this length on a call into the engine is faster than a loop, and a text made in a loop would be a rope of
 * pieces.
 */
const SHORT = 12;

const shortText = (bytes: Uint8Array, start: number, length: number): string => {
  let text = '';
  for (let i = start; i < start + length; i++) text += String.fromCharCode(bytes[i] as number);
  return text;
};

const isAt = (text: string, bytes: Uint8Array, start: number): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
};

/** A copy: `slice` of a Buffer would be a view. */
export const copyBytes = (bytes: Uint8Array, start: number, length: number): Uint8Array => {
  const copy = new Uint8Array(length);
  copy.set(bytes.subarray(start, start + length));
  return copy;
};
