/**
 * Short texts that were read lately, by a hash of their length, first, middle and last byte: most keys, and values such
 * as roles and types, are among a few dozen. Bounded: a slot holds the last one. ASCII only. Not `lru-cache`: its keys are
 * texts or objects, and what is saved here is making the text.
 */
const SLOTS = 1024;
const texts = new Array<string>(SLOTS).fill('');

/** Longer texts are not cached. */
export const MAX_CACHED = 32;

/**
 * The ASCII text of 1 to {@link MAX_CACHED} bytes that begins at `start`, kept for next time; undefined if a byte is not
 * ASCII.
 */
/** `latin1Slice` is what `toString('latin1')` comes to, without the way there; the types of Node leave it out. */
export type SliceableBytes = Buffer & {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
};

export const cachedText = (bytes: SliceableBytes, start: number, length: number): string | undefined => {
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
    length < SHORT ? shortText(bytes, start, length) : bytes.latin1Slice(start, start + length));
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
