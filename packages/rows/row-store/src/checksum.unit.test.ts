import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashBytes, isSealed, sealBytes, seedOf } from './checksum.ts';
import { OWNERS, THINGS } from './contract/fixtures.ts';
import { unpackValue, packValue } from './value.ts';

describe('a checksum', () => {
  it('notices every single changed bit, every length that is too short, and any other seed', () => {
    const seed = seedOf(THINGS);
    for (const length of [0, 1, 40, 300]) {
      const sealed = sealBytes(seed, Buffer.alloc(length, 0xa5));
      expect(isSealed(seed, sealed)).toBe(true);
      expect(isSealed(seedOf(OWNERS), sealed)).toBe(false);
      for (let bit = 0; bit < sealed.length * 8; bit++) {
        sealed[bit >> 3]! ^= 1 << (bit & 7);
        expect(isSealed(seed, sealed)).toBe(false);
        sealed[bit >> 3]! ^= 1 << (bit & 7);
      }
      for (let end = 0; end < sealed.length; end++)
        expect(isSealed(seed, sealed.subarray(0, end))).toBe(false);
    }
  });

  it('differs from table to table, also from one that was never read before', () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const sealed = sealBytes(seedOf({ name: one }), Buffer.from('value'));
    expect(isSealed(seedOf({ name: other }), sealed)).toBe(false);
    expect(isSealed(seedOf({ name: one }), sealed)).toBe(true);
  });

  it.each([
    [1, 1_535_722_102],
    [7, 1_025_587_373],
    [600, -1_438_179_956],
  ])('of %i bytes is the one that is on disk already: rows of before stay readable', (length, checksum) => {
    expect(hashBytes(1, Buffer.alloc(length, 0xa5))).toBe(checksum);
  });

  it('is the same for an integer, whether a number or a bigint holds it: columns of a database give back either', () => {
    const packed = (cell: number | bigint): Buffer =>
      packValue(THINGS, ['', 0, null, null, null, { a: [cell] }]);
    for (const cell of [0, 5, -1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, -(2 ** 53 - 1)])
      expect(packed(BigInt(cell))).toEqual(packed(cell));
    expect(unpackValue(THINGS, packed(5n))).toEqual(unpackValue(THINGS, packed(5)));
  });
});
