import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { lowerBound } from '../src/index.ts';

it('lowerBound returns the same index as a linear search for the first value that is not below', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 })),
      fc.integer({ min: 0, max: 20 }),
      (numbers, least) => {
        const sorted = numbers.toSorted((a, b) => a - b);
        const found = sorted.findIndex((number) => number >= least);
        expect(lowerBound(0, sorted.length, (i) => (sorted[i] as number) < least)).toBe(
          found === -1 ? sorted.length : found,
        );
      },
    ),
  );
});

it('lowerBound searches only between the two given indexes', () => {
  expect([lowerBound(2, 5, () => false), lowerBound(2, 5, () => true), lowerBound(3, 3, () => true)]).toEqual(
    [2, 5, 3],
  );
});
