import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';
import { defined, millisecondsOf, nanosecondsOf } from './index.ts';

test('a field without a value is left out, and every other value stays, in its order', () => {
  const fields = { z: undefined, b: null, a: 0, e: '', f: false, y: undefined };
  expect(Object.entries(defined(fields))).toEqual([
    ['b', null],
    ['a', 0],
    ['e', ''],
    ['f', false],
  ]);
  expect(Object.keys(fields)).toHaveLength(6);
});

test('defined equals a spread of one condition a field', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.option(fc.anything(), { nil: undefined })), (fields) => {
      const spread = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
      expect(Object.entries({ ...defined(fields) })).toEqual(Object.entries({ ...spread }));
    }),
  );
});

test('the type of a field that may be undefined is optional without undefined', () => {
  const fields = { seq: 3, notes: undefined as string | undefined, by: null as string | null };
  const kept: { readonly seq: number; readonly notes?: string; readonly by: string | null } = defined(fields);
  expect(kept).toEqual({ seq: 3, by: null });
  expectTypeOf(defined(fields).notes).toEqualTypeOf<string | undefined>();
});

test('milliseconds are nanoseconds without their fraction', () => {
  expect([1_999_999n, 0n, -1_999_999n, 1_700_000_000_000_000_001n].map(millisecondsOf)).toEqual([
    1, 0, -1, 1_700_000_000_000,
  ]);
  fc.assert(fc.property(fc.maxSafeInteger(), (at) => millisecondsOf(nanosecondsOf(at)) === at));
});
