import fc from 'fast-check';
import { expect, it } from 'vitest';
import { drawSample } from '../src/index.ts';

it(
  'a sample has as many different messages as asked for, all of the window, and follows from seed and round',
  { tags: ['pool:Runner'] },
  () => {
    fc.assert(
      fc.property(
        fc.nat(0xffff_ffff),
        fc.nat(10_000),
        fc.nat(1_000_000),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(60),
        (seed, round, from, size, more) => {
          const window = { from, to: from + size + more, size };
          const drawn = drawSample({ seed, round }, window);
          expect(new Set(drawn).size).toBe(size);
          expect(drawn.every((at) => at >= window.from && at < window.to)).toBe(true);
          expect(drawSample({ seed, round }, window)).toEqual(drawn);
        },
      ),
    );
  },
);

it(
  'each message of a window is as likely as any other, whatever its number in the sample',
  { tags: ['pool:Runner'] },
  () => {
    const counts = Array.from({ length: 6 }, () => [0, 0, 0]);
    for (let round = 1; round <= 6_000; round++)
      drawSample({ seed: 3, round }, { from: 0, to: 6, size: 3 }).forEach((at, number) => {
        const row = counts[at] as number[];
        row[number] = (row[number] ?? 0) + 1;
      });
    // 1,000 are expected, with a standard deviation of 29.
    for (const row of counts) for (const count of row) expect(Math.abs(count - 1_000)).toBeLessThan(5 * 29);
  },
);

it('the same seed and round give these messages on every machine', { tags: ['pool:Runner'] }, () => {
  expect(drawSample({ seed: 7, round: 1 }, { from: 0, to: 100, size: 5 })).toMatchInlineSnapshot(`
    [
      32,
      91,
      59,
      17,
      83,
    ]
  `);
});
