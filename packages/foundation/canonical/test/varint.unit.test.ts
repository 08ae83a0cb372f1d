import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readVarint } from '../src/index.ts';

const bytesOf = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...bytesOf(Math.floor(value / 128))];

test('numbers are read as they were written, one after another', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat()), (values) => {
      const bytes = Uint8Array.from(values.flatMap(bytesOf));
      const cursor = { at: 0 };
      expect(values.map(() => readVarint(bytes, cursor))).toEqual(values);
      expect(cursor.at).toBe(bytes.length);
    }),
  );
});

test.each([
  ['no bytes', [], 10],
  ['an end inside the number', [0x80], 10],
  ['more bytes than are allowed', [0x80, 0x80, 0x01], 2],
  ['a number without an end', Array.from({ length: 99 }, () => 0xff), 10],
])('%s is no number', (_what, bytes, most) => {
  expect(readVarint(Uint8Array.from(bytes), { at: 0 }, most)).toBeUndefined();
});
