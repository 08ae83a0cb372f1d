import { expect, test } from 'vitest';
import { seededRandom, shuffle } from '../src/index.ts';

test('the numbers of a seed are those that were drawn when it was first used', () => {
  const drawn = (seed: number): readonly number[] => Array.from({ length: 4 }, seededRandom(seed).next);
  expect(drawn(0)).toMatchInlineSnapshot(`
    [
      1789933344,
      44971166,
      2521387044,
      3848737593,
    ]
  `);
  expect(drawn(2 ** 40 + 7)).toMatchInlineSnapshot(`
    [
      876089589,
      643509405,
      3285196103,
      514003610,
    ]
  `);
  expect(drawn(7)).not.toEqual(drawn(2 ** 40 + 7));
});

test('numbers below a bound are spread evenly, and a shuffle keeps what there is', () => {
  const random = seededRandom(1);
  const counts = [0, 0, 0, 0, 0];
  for (let i = 0; i < 5000; i++) counts[random.below(5)]!++;
  // Five standard deviations.
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(142);
  const list = Int32Array.from({ length: 30 }, (_, i) => i);
  shuffle(list, random);
  expect([...list]).not.toEqual([...list].sort((a, b) => a - b));
  expect([...list].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
});

test.each([-1, 0.5, 2 ** 53, NaN])('%d is no seed', (seed) => {
  expect(() => seededRandom(seed)).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});
