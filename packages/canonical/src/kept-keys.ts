/** Keys that were read lately, by a hash of their length, first and last byte. Bounded: a slot holds the last one. */
const SLOTS = 512;
const keys = new Array<{ readonly bytes: Uint8Array; readonly text: string } | undefined>(SLOTS);

/** Longer keys are not kept. */
export const MAX_KEPT_KEY = 32;

const slotOf = (bytes: Uint8Array, start: number, length: number): number =>
  ((bytes[start] as number) * 31 + (bytes[start + length - 1] as number) * 7 + length) & (SLOTS - 1);

/** The text of a key, if the same bytes were kept. */
export const keptKey = (bytes: Uint8Array, start: number, length: number): string | undefined => {
  const kept = keys[slotOf(bytes, start, length)];
  return kept?.bytes.length === length && isAt(kept.bytes, bytes, start) ? kept.text : undefined;
};

/** Keeps a key and gives its text. */
export const keepKey = (bytes: Uint8Array, start: number, length: number, text: string): string => {
  keys[slotOf(bytes, start, length)] = { bytes: copyOf(bytes, start, length), text };
  return text;
};

const isAt = (part: Uint8Array, bytes: Uint8Array, start: number): boolean => {
  for (let i = 0; i < part.length; i++) if (part[i] !== bytes[start + i]) return false;
  return true;
};

/** A copy: `slice` of a Buffer would be a view. */
export const copyOf = (bytes: Uint8Array, start: number, length: number): Uint8Array => {
  const copy = new Uint8Array(length);
  copy.set(bytes.subarray(start, start + length));
  return copy;
};
