import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { lowerBound } from '../src/index.ts';

it('gives the first index that is not below, as going through them one by one does', () => {
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

it('stays between its edges', () => {
  expect([lowerBound(2, 5, () => false), lowerBound(2, 5, () => true), lowerBound(3, 3, () => true)]).toEqual(
    [2, 5, 3],
  );
});
