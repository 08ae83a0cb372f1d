import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fisherExact, triesNeeded, wilsonInterval } from '../src/index.ts';

const passed = fc
  .tuple(fc.integer({ min: 1, max: 60 }), fc.nat({ max: 60 }))
  .map(([tried, given]) => ({ tried, passed: given % (tried + 1) }));

describe('fisherExact', () => {
  test('known tables have their known p values', () => {
    // By exact fractions of binomials.
    expect(fisherExact({ passed: 17, tried: 20 }, { passed: 9, tried: 20 })).toBeCloseTo(0.0187011, 6);
    expect(fisherExact({ passed: 3, tried: 4 }, { passed: 1, tried: 4 })).toBeCloseTo(0.485714, 6);
    expect(fisherExact({ passed: 10, tried: 10 }, { passed: 0, tried: 10 })).toBeCloseTo(1.0825e-5, 8);
    expect(fisherExact({ passed: 1, tried: 1 }, { passed: 5, tried: 5 })).toBe(1);
  });

  test('it is a probability, and the same whichever arm is named first', () => {
    fc.assert(
      fc.property(passed, passed, (a, b) => {
        const p = fisherExact(a, b);
        expect(p).toBeGreaterThan(0);
        expect(p).toBeLessThanOrEqual(1);
        expect(fisherExact(b, a)).toBeCloseTo(p, 9);
      }),
    );
  });

  test('it is the sum over all tables, counted one by one', () => {
    const choose = (n: bigint, k: bigint): bigint => {
      let ways = 1n;
      for (let i = 1n; i <= k; i++) ways = (ways * (n - k + i)) / i;
      return ways;
    };
    fc.assert(
      fc.property(passed, passed, (a, b) => {
        const all = a.passed + b.passed;
        const ways = (ofA: number): bigint =>
          ofA < 0 || ofA > a.tried || all - ofA < 0 || all - ofA > b.tried
            ? 0n
            : choose(BigInt(a.tried), BigInt(ofA)) * choose(BigInt(b.tried), BigInt(all - ofA));
        let [sum, total] = [0n, 0n];
        for (let ofA = 0; ofA <= all; ofA++) {
          total += ways(ofA);
          if (ways(ofA) <= ways(a.passed)) sum += ways(ofA);
        }
        expect(fisherExact(a, b)).toBeCloseTo(Number((sum * 10n ** 12n) / total) / 1e12, 8);
      }),
    );
  });
});

describe('wilsonInterval', () => {
  test('known counts have their known intervals', () => {
    const { low, high } = wilsonInterval({ passed: 17, tried: 20 });
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.6396', '0.9476']);
    expect(wilsonInterval({ passed: 0, tried: 10 }).low).toBe(0);
    expect(wilsonInterval({ passed: 10, tried: 10 }).high).toBe(1);
  });

  test('the share lies within', () => {
    fc.assert(
      fc.property(passed, (counts) => {
        const { low, high } = wilsonInterval(counts);
        const share = counts.passed / counts.tried;
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(share >= low - 1e-12 && share <= high + 1e-12).toBe(true);
      }),
    );
  });

  test('what is no share is refused', () => {
    expect(() => wilsonInterval({ passed: 1, tried: 0 })).toThrow(/no share/);
    expect(() => wilsonInterval({ passed: 3, tried: 2 })).toThrow(/no share/);
  });
});

test('triesNeeded: a small difference needs more tries, and none needs none', () => {
  expect(triesNeeded({ passed: 5, tried: 10 }, { passed: 5, tried: 10 })).toBeNull();
  // Fleiss: 0.85 against 0.45 needs 22 in each arm.
  expect(triesNeeded({ passed: 17, tried: 20 }, { passed: 9, tried: 20 })).toBe(22);
  expect(triesNeeded({ passed: 11, tried: 20 }, { passed: 9, tried: 20 }) ?? 0).toBeGreaterThan(300);
});
