/**
 * Orders two texts by code point (the order of their UTF-8 bytes), for `sort`.
 * JavaScript's own order is by UTF-16 unit and puts U+1F600 before U+FF41.
 */
export const compareCodePoints = (a: string, b: string): number => {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
};

/** Surrogates encode code points above all others, so they rank above U+E000…U+FFFF. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Orders two byte strings, for `sort`. */
export const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};

/** Orders two numbers or two bigints, for `sort`. */
export const compareNumbers = <T extends number | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
