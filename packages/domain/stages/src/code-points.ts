import { compareCodePoints } from '@stemma/canonical';

/** Orders two texts by code point; a lone surrogate is the code point it is, below U+E000. */
export const compareExact = (a: string, b: string): number => {
  if (a.isWellFormed() && b.isWellFormed()) return compareCodePoints(a, b);
  const left = a[Symbol.iterator]();
  const right = b[Symbol.iterator]();
  for (;;) {
    const x = left.next();
    const y = right.next();
    if (x.done === true || y.done === true) return Number(y.done ?? false) - Number(x.done ?? false);
    const difference = (x.value.codePointAt(0) ?? 0) - (y.value.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
};

const SURROGATE = /[\ud800-\udfff]/;

/** How many code points a text has; a lone surrogate counts one. */
export const countCodePoints = (text: string): number => {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at++, count++) if ((text.codePointAt(at) ?? 0) > 0xffff) at++;
  return count;
};

/** The first `count` code points of a text, or all of it. */
export const takeCodePoints = (text: string, count: number): string => {
  if (text.length <= count) return text;
  let at = 0;
  for (let taken = 0; taken < count && at < text.length; taken++)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, at);
};
