import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldPauses } from '../src/time/fold-pauses.ts';

test('pauses are shortened to half of the longest call, and calls keep their order and overlaps', () => {
  expect(foldPauses([])).toEqual({ starts: [], length: 1, folded: 0 });
  expect(
    foldPauses([
      { at: 1_000, took: 100 },
      { at: 1_050, took: 20 },
      { at: 901_000, took: 40 },
      { at: 901_060, took: 10 },
    ]),
  ).toEqual({ starts: [0, 50, 150, 210], length: 220, folded: 1 });
});

test('a line without pauses is the time itself, and none is longer', () => {
  const call = fc.record({ at: fc.nat(1_000_000), took: fc.nat(5_000) });
  fc.assert(
    fc.property(fc.array(call, { minLength: 1 }), (calls) => {
      const { starts, length, folded } = foldPauses(calls);
      const begin = Math.min(...calls.map(({ at }) => at));
      for (const [i, { at, took }] of calls.entries()) {
        const start = starts[i] ?? -1;
        expect(start).toBeGreaterThanOrEqual(0);
        expect(start).toBeLessThanOrEqual(at - begin);
        expect(start + took).toBeLessThanOrEqual(length);
        if (folded === 0) expect(start).toBe(at - begin);
        for (const [j, other] of calls.entries())
          if (other.at >= at) expect(starts[j] ?? -1).toBeGreaterThanOrEqual(start);
      }
    }),
  );
});
