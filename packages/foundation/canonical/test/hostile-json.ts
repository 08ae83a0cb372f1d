/** Numbers that a seed determines, from 0 to below `n`. */
export type Draw = (n: number) => number;

/** Mulberry32. */
export const drawFrom = (seed: number): Draw => {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  };
};

const pick = <T>(draw: Draw, list: readonly T[]): T => list[draw(list.length)] as T;

const KEYS = [
  '"a"',
  '"\\u0061"',
  '"b"',
  '"\\n"',
  '"\\""',
  '"\\\\"',
  '""',
  '"10"',
  '"2"',
  '"__proto__"',
  '"c:d"',
  '"é"',
];
const TEXTS = [
  '"x"',
  '"\\ud83d\\ude42"',
  '"🙂"',
  '"\\ud83d"',
  '"\ude42"',
  '"\\\\\\""',
  '"[{,:"',
  '"\\u0000"',
  '"\u2028\u202e"',
  '"\\/"',
  '"\\x"',
  '"\u0001"',
  '"a\\',
];
const SCALARS = [
  '0',
  '-0',
  '1',
  '-1.5',
  '1e3',
  '1E-7',
  '9007199254740991',
  '9007199254740993',
  '-9007199254740993',
  '1e400',
  '0.1e1',
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  'NaN',
  'true',
  'false',
  'null',
  'nul',
  'tru',
  'undefined',
  '12345678901234567890.0',
  '\u0000',
  '1\u0000',
];
const SPACES = ['', '', '', ' ', '\n', '\r\n', '\t', '\ufeff', '\u00a0', '\u000b'];
const SLIPS = ['', ',', ':', '"', '\\', '[', ']', '{', '}', '\u0000', '0', '-', '.', 'e', ' ', '\n'];

const value = (draw: Draw, depth: number): string => {
  const space = draw(12) === 0 ? pick(draw, SPACES) : '';
  const kind = draw(depth > 4 ? 2 : 4);
  if (kind === 0) return space + pick(draw, draw(4) === 0 ? SCALARS : SCALARS.slice(0, 7)) + space;
  if (kind === 1) return space + pick(draw, draw(4) === 0 ? TEXTS : TEXTS.slice(0, 3)) + space;
  const items = Array.from({ length: draw(4) }, () =>
    kind === 2 ? value(draw, depth + 1) : `${space}${pick(draw, KEYS)}${space}:${value(draw, depth + 1)}`,
  );
  return kind === 2 ? `[${items.join(',')}${space}]` : `{${items.join(',')}${space}}`;
};

/** A JSON text full of what parsers differ in, or one with a slip in it; a surprise every time. */
export const hostileJson = (draw: Draw): string => {
  const text = value(draw, 0);
  if (draw(3) > 0) return text;
  const at = draw(text.length + 1);
  return text.slice(0, at) + pick(draw, SLIPS) + text.slice(at + draw(2));
};

/** The text in pieces of any length, empty ones among them. */
export const inPieces = (draw: Draw, text: string): string[] => {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = draw(6);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
};
