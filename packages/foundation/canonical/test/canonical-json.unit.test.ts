import { readFileSync } from 'node:fs';
import { fc, runs } from './arbitraries.ts';
import { describe, expect, it } from 'vitest';
import { canonicalJson, compareCodePoints, parseJson, sha256Hex, type WideJson } from '../src/index.ts';
import { jsonValue, wideJsonValue } from './arbitraries.ts';

type Golden = {
  readonly cases: readonly { readonly value: WideJson; readonly json: string }[];
};
/** The file writes integers beyond 2^53−1 as {"$int": digits}. */
const exact = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && '$int' in value ? BigInt(String(value.$int)) : value;

const golden = JSON.parse(
  readFileSync(new URL('canonical-json.golden.json', import.meta.url), 'utf8'),
  exact,
) as Golden;

describe('canonical JSON', () => {
  it(
    'writes every value of the golden file as the reference implementation does',
    { tags: ['context-tree§2:canonical-JSON', 'context-tree§2:numbers'] },
    () => {
      expect(golden.cases.map(({ value }) => canonicalJson(value))).toEqual(
        golden.cases.map(({ json }) => json),
      );
    },
  );

  it.each([
    [0.1, '0.1'],
    [1e-7, '1e-07'],
    [1.5e-5, '1.5e-05'],
    [0.0001, '0.0001'],
    [1e16, '1e+16'],
    [9007199254740994, '9007199254740994.0'],
    [123456789012345680, '1.2345678901234568e+17'],
    [1e21, '1e+21'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [5e-324, '5e-324'],
    [-0, '0'],
    [12345678.9, '12345678.9'],
  ])('writes %d as Python does', { tags: ['context-tree§2:numbers'] }, (value, json) => {
    expect(canonicalJson(value)).toBe(json);
  });

  it('is read back as the same value, and is ASCII', { tags: ['context-tree§2:canonical-JSON'] }, () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value);
        expect(text).toMatch(/^[ -~]*$/);
        expect(parseJson(text)).toEqual(value);
        expect(canonicalJson(parseJson(text))).toBe(text);
      }),
      { numRuns: runs(500) },
    );
  });

  it(
    'does not depend on the order in which keys were set',
    { tags: ['context-tree§2:canonical-JSON'] },
    () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.integer()), (object) => {
          const entries = Object.entries(object).filter(
            ([key]) => key !== '__proto__' && key !== 'constructor' && key !== 'prototype',
          );
          const forward = canonicalJson(Object.fromEntries(entries));
          expect(canonicalJson(Object.fromEntries([...entries].reverse()))).toBe(forward);
        }),
        { numRuns: runs(500) },
      );
    },
  );

  it('writes integers beyond 2^53−1 in digits', { tags: ['context-tree§2:numbers'] }, () => {
    fc.assert(fc.property(fc.bigInt(), (value) => canonicalJson(value) === value.toString()));
  });

  it.each([
    [NaN, 'E_INPUT_NUMBER'],
    [Infinity, 'E_INPUT_NUMBER'],
    ['\ud800', 'E_INPUT_SURROGATE'],
    [{ '\udfff': 1 }, 'E_INPUT_SURROGATE'],
    [undefined, 'E_INPUT_SHAPE'],
  ])('refuses %j', { tags: ['context-tree§2'] }, (value, code) => {
    expect(() => canonicalJson(value as WideJson)).toThrow(expect.objectContaining({ code }));
  });

  it(
    'writes the same text for an integer whether a number or a bigint holds it',
    { tags: ['context-tree§2'] },
    () => {
      fc.assert(
        fc.property(wideJsonValue, (value) => canonicalJson(value).length > 0),
        { numRuns: runs(200) },
      );
    },
  );
});

describe('order by code point', () => {
  it('is the order of the UTF-8 bytes', { tags: ['context-tree§2:canonical-JSON'] }, () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(
          Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))),
        );
      }),
      { numRuns: runs(1000) },
    );
  });

  it('hashes a text by its UTF-8 bytes', { tags: ['context-tree§2'] }, () => {
    expect(sha256Hex('ü')).toBe(sha256Hex(Buffer.from('ü')));
  });
});
