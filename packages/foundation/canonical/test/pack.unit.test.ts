import { encode } from '@msgpack/msgpack';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  binariesIfRead,
  ContentRef,
  fromHex,
  openUnpacker,
  pack,
  toHex,
  unpack,
  unpackFrom,
  type Packable,
} from '../src/index.ts';
import { fc, runs, wideJsonValue } from './arbitraries.ts';

const hash = 'ab'.repeat(32);

/** A value and the hex of its canonical msgpack, written by hand from the msgpack specification. */
const VECTORS: readonly (readonly [Packable, string])[] = [
  [null, 'c0'],
  [false, 'c2'],
  [true, 'c3'],
  [0, '00'],
  [-0, '00'],
  [127, '7f'],
  [128, 'cc80'],
  [256, 'cd0100'],
  [65_536, 'ce00010000'],
  [4_294_967_296, 'cf0000000100000000'],
  [9_007_199_254_740_991, 'cf001fffffffffffff'],
  [5n, '05'],
  [1_700_000_000_000_000_000n, 'cf17979cfe362a0000'],
  [-1, 'ff'],
  [-33, 'd0df'],
  [-129, 'd1ff7f'],
  [-32_769, 'd2ffff7fff'],
  [-2_147_483_649, 'd3ffffffff7fffffff'],
  [0.5, 'cb3fe0000000000000'],
  [9_007_199_254_740_992, 'cb4340000000000000'],
  ['', 'a0'],
  ['ä', 'a2c3a4'],
  ['x'.repeat(32), 'd920' + '78'.repeat(32)],
  ['x'.repeat(256), 'da0100' + '78'.repeat(256)],
  [fromHex('00ff'), 'c40200ff'],
  [[], '90'],
  [[1, [2]], '92019102'],
  [{}, '80'],
  [{ b: 1, a: 2 }, '82a16102a16201'],
  [{ '10': 1, '9': 2, a: 3 }, '83a2313001a13902a16103'],
  // U+FF41 before U+1F600: by code point, not by UTF-16 unit.
  [{ '\u{1f600}': 1, '\uff41': 2 }, '82a3efbd8102a4f09f988001'],
  [new ContentRef(hash, 300_000), 'c72801' + '92c420' + hash + 'ce000493e0'],
];

describe('canonical msgpack', () => {
  it.each(VECTORS.map(([value, hex]) => [hex, value] as const))(
    'writes %s in one way, and reads it back',
    { tags: ['record§1:canonical-bytes', 'record§4:reference'] },
    (hex, value) => {
      expect(toHex(pack(value))).toBe(hex);
      expect(toHex(pack(unpack(fromHex(hex))))).toBe(hex);
    },
  );

  it('gives back what was packed, and the same bytes again', { tags: ['record§1:canonical-bytes'] }, () => {
    fc.assert(
      fc.property(wideJsonValue, (value) => {
        const bytes = pack(value);
        const back = unpack(bytes);
        expect(narrow(back)).toEqual(narrow(value));
        expect(toHex(pack(back))).toBe(toHex(bytes));
      }),
      { numRuns: runs(1000) },
    );
  });

  it(
    'reads the same value from a Buffer, and keeps no reference to its memory',
    { tags: ['record§1'] },
    () => {
      const bytes = Buffer.from(pack({ digest: fromHex('0102'), abcdefghijkl: 1 }));
      const value = unpack(bytes);
      bytes.fill(0);
      expect(value).toEqual({ digest: new Uint8Array([1, 2]), abcdefghijkl: 1 });
      expect(unpack(Buffer.from(pack({ abcdefghijkl: 2 })))).toEqual({ abcdefghijkl: 2 });
    },
  );

  it('writes what the msgpack library writes for sorted keys', { tags: ['record§1:canonical-bytes'] }, () => {
    fc.assert(
      fc.property(wideJsonValue, (value) => {
        fc.pre(!hasIndexKeys(value));
        expect(toHex(pack(value))).toBe(toHex(encode(forLibrary(value), { useBigInt64: true })));
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each([0x1f, 0x20, 0xff, 0x100, 0xffff, 0x1_0000, 0x1_0001])(
    'writes lists, maps, bytes and texts of %s parts as the library does, and texts of wider characters',
    { tags: ['record§1'] },
    (count) => {
      const list = Array.from({ length: count }, (_, i) => i);
      const map = Object.fromEntries(list.map((i) => [`k${String(i).padStart(6, '0')}`, i]));
      const texts = ['a', 'ä', '\uff41', '\u{1f600}'].map((unit) => unit.repeat(count));
      for (const value of [list, map, new Uint8Array(count).fill(7), ...texts])
        expect(Buffer.compare(pack(value), encode(value))).toBe(0);
    },
  );

  it(
    'goes on after a refusal, and after values with keys that never come again',
    { tags: ['record§1:canonical-bytes'] },
    () => {
      expect(() => pack({ a: ['x'.repeat(100_000), undefined as never] })).toThrow();
      for (let i = 0; i < 10_000; i++) pack({ [`b${i}`]: 1, a: 2 });
      pack({ ['b'.repeat(1000)]: 1, a: 2 });
      expect(toHex(pack({ b: 1, a: 2 }))).toBe('82a16102a16201');
      expect(() => pack({ a: 1, prototype: 2 })).toThrow(
        expect.objectContaining({ code: 'E_INPUT_FORBIDDEN_KEY' }),
      );
    },
  );

  it('counts the values that JSON cannot hold', { tags: ['record§4'] }, () => {
    const bytes = pack([new ContentRef(hash, 1), { a: fromHex('00'), b: [new ContentRef(hash, 2)] }]);
    expect(unpackFrom(bytes, 0)).toMatchObject({ end: bytes.length, refs: 2, binaries: 1 });
  });

  it(
    'accepts no bytes but those that pack writes, however they are altered',
    { tags: ['record§1:canonical-bytes'] },
    () => {
      fc.assert(
        fc.property(wideJsonValue, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, at, flip) => {
          const bytes = pack(value);
          const place = at % bytes.length;
          bytes[place] = (bytes[place] as number) ^ flip;
          sameOrRefused(bytes);
        }),
        { numRuns: runs(2000) },
      );
    },
  );

  it('accepts no random bytes but those that pack writes', { tags: ['record§1:canonical-bytes'] }, () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), sameOrRefused), { numRuns: runs(3000) });
  });

  it.each([
    ['an integer too long', 'cc05'],
    ['a float for an integer', 'cb3ff0000000000000'],
    ['a 32-bit float', 'ca3fc00000'],
    ['NaN', 'cb7ff8000000000000'],
    ['keys out of order', '82a16201a16102'],
    ['a key twice', '82a16101a16102'],
    ['a key that is no text', '810102'],
    ['a forbidden key', '81' + 'a9' + Buffer.from('__proto__').toString('hex') + '01'],
    ['a text that is no UTF-8', 'a1ff'],
    ['a surrogate in UTF-8', 'a3eda080'],
    ['a text length too long', 'd90161'],
    ['an unknown extension', 'c70102' + '01'],
    ['a byte that begins nothing', 'c1'],
    ['bytes behind the value', '0101'],
    ['no bytes', ''],
    ['half a value', '9201'],
  ])('refuses %s', { tags: ['record§1'] }, (_name, hex) => {
    expect(() => unpack(fromHex(hex))).toThrow(expect.objectContaining({ code: 'E_FRAME_INVALID' }));
  });

  it.each(['dd7fffffff', 'df7fffffff', 'db7fffffff61', 'c67fffffff00', 'c7ff01'])(
    'allocates nothing for a length that the bytes cannot hold: %s',
    { tags: ['record§1:bounded-decoding'] },
    (hex) => {
      const before = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
      expect(() => unpack(fromHex(hex))).toThrow(expect.objectContaining({ code: 'E_FRAME_INVALID' }));
      expect(process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers - before).toBeLessThan(
        10_000_000,
      );
    },
  );

  it(
    'packs and unpacks values as deep as the deepest content inside a frame, and none deeper',
    { tags: ['record§1:bounded-decoding'] },
    () => {
      const nested = (depth: number): Packable => (depth === 0 ? 'x' : [nested(depth - 1)]);
      expect(unpack(pack(nested(540)))).toEqual(nested(540));
      expect(() => pack(nested(541))).toThrow(expect.objectContaining({ code: 'E_INPUT_TOO_DEEP' }));
      const deeper = Buffer.concat([Buffer.alloc(541, 0x91), Buffer.from([1])]);
      expect(() => unpack(deeper)).toThrow(expect.objectContaining({ code: 'E_FRAME_INVALID' }));
      expect(() => unpack(Buffer.alloc(1_000_000, 0x91))).toThrow(
        expect.objectContaining({ code: 'E_FRAME_INVALID' }),
      );
    },
  );

  it.each([
    ['an unpaired surrogate', 'x'.repeat(300) + '\ud800', 'E_INPUT_SURROGATE'],
    ['a key with one', { '\ud800': 1 }, 'E_INPUT_SURROGATE'],
    ['undefined', undefined, 'E_INPUT_SHAPE'],
    ['undefined in a map', { a: undefined }, 'E_INPUT_SHAPE'],
    ['a Map', new Map(), 'E_INPUT_SHAPE'],
    ['a Date', new Date(0), 'E_INPUT_SHAPE'],
    ['NaN', NaN, 'E_INPUT_NUMBER'],
    ['65 bits', 2n ** 64n, 'E_INPUT_NUMBER'],
    ['a forbidden key', { constructor: 1 }, 'E_INPUT_FORBIDDEN_KEY'],
  ])('refuses to write %s', { tags: ['record§1:refused-values'] }, (_name, value, code) => {
    expect(() => pack(value as Packable)).toThrow(expect.objectContaining({ code }));
  });

  it(
    'sorts the keys of objects, which the msgpack library does not do',
    { tags: ['record§1:canonical-bytes'] },
    () => {
      const value = { '\u{1f600}': 1, '\uff41': 2 };
      expect(toHex(encode(value, { sortKeys: true }))).not.toBe(toHex(pack(value)));
    },
  );
});

/** JavaScript lists keys that look like indexes first, whatever the order: the library cannot write those sorted. */
const hasIndexKeys = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ((!Array.isArray(value) && Object.keys(value).some((key) => /^\d+$/.test(key))) ||
    Object.values(value).some(hasIndexKeys));

/** A value of which the library makes the canonical form: sorted keys, and bigints where it would write floats. */
const forLibrary = (value: unknown): unknown => {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? forLibrary(Number(value)) : value;
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && (value >= 2 ** 32 || value < -(2 ** 31)) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(forLibrary);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return Object.fromEntries(keys.map((key) => [key, forLibrary((value as Record<string, unknown>)[key])]));
};

const sameOrRefused = (bytes: Uint8Array): void => {
  let value: Packable;
  try {
    value = unpack(bytes);
  } catch (error) {
    expect(error).toMatchObject({ code: 'E_FRAME_INVALID' });
    return;
  }
  expect(toHex(pack(value))).toBe(toHex(bytes));
};

/** Bigints that a number can hold exactly come back as numbers. */
const narrow = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(narrow);
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, narrow(item)]));
};

describe('a value that is compared with bytes', () => {
  /** What a reader would find. */
  const byReading = (bytes: Uint8Array, value: Packable): number | undefined => {
    const { value: read, binaries } = unpackFrom(bytes, 0);
    return isDeepStrictEqual(read, value) ? binaries : undefined;
  };
  const sorted = (value: unknown): unknown => unpack(pack(value as Packable));

  it('is there if a reader finds it there, whatever the order of its keys', () => {
    for (const [value, hex] of VECTORS)
      if (!(value instanceof ContentRef))
        expect(binariesIfRead(fromHex(hex), 0, value), hex).toBe(byReading(fromHex(hex), value));
    fc.assert(
      fc.property(wideJsonValue, (value) => {
        expect(binariesIfRead(pack(value), 0, value)).toBe(
          isDeepStrictEqual(sorted(value), value) ? 0 : undefined,
        );
        expect(binariesIfRead(pack(value), 0, sorted(value) as Packable)).toBe(0);
      }),
      { numRuns: runs(1000) },
    );
    expect(binariesIfRead(pack({ b: 1, a: [fromHex('00')] }), 0, { b: 1, a: [fromHex('00')] })).toBe(1);
  });

  it('is not there if a reader would find another, or none', () => {
    fc.assert(
      fc.property(wideJsonValue, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, at, flip) => {
        const bytes = pack(value);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] as number) ^ flip;
        expect(orCode(() => binariesIfRead(bytes, 0, sorted(value) as Packable))).toSatisfy(
          (found) => found === undefined || found === 'E_FRAME_INVALID',
        );
      }),
      { numRuns: runs(2000) },
    );
    const others: readonly (readonly [Packable, Packable])[] = [
      [{ a: 1, b: 2 }, { a: 1 }],
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: 1 }, { b: 1 }],
      [[1], [1, 2]],
      [[], {}],
      ['1', 1],
      [0, -0],
      [5, 5n],
      ['\ufffd', '\ud800'],
      [fromHex('00'), fromHex('01')],
      [new ContentRef(hash, 1), new ContentRef(hash, 1)],
    ];
    for (const [written, value] of others) expect(binariesIfRead(pack(written), 0, value)).toBeUndefined();
    expect(binariesIfRead(Buffer.concat([pack(1), pack(1)]), 0, 1)).toBeUndefined();
  });

  const orCode = (fn: () => unknown): unknown => {
    try {
      return fn();
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
  };
});

describe('a value that is passed', () => {
  /** Where the second of two values begins, for one who passes the first. */
  const passed = (bytes: Uint8Array): number => {
    const reader = openUnpacker(bytes, 0);
    reader.pass();
    return reader.at;
  };

  it('ends where it ends for one who reads it', () => {
    for (const [, hex] of VECTORS) expect(passed(fromHex(`${hex}93010203`)), hex).toBe(hex.length / 2);
    fc.assert(
      fc.property(wideJsonValue, (value) => {
        const bytes = pack(value);
        expect(passed(Buffer.concat([bytes, bytes]))).toBe(bytes.length);
      }),
      { numRuns: runs(300) },
    );
  });

  it('is refused if the bytes end before it does, or begin no value', () => {
    for (const [, hex] of VECTORS)
      for (let end = 0; end < hex.length; end += 2)
        expect(() => passed(fromHex(hex.slice(0, end))), hex).toThrow(
          expect.objectContaining({ code: 'E_FRAME_INVALID' }) as Error,
        );
    expect(() => passed(fromHex('c1'))).toThrow(
      expect.objectContaining({ code: 'E_FRAME_INVALID' }) as Error,
    );
  });
});
