import type { DivisionStatistic } from './max-test.ts';
import type { RunUnit } from './runs.ts';

/** The kinds of choices that any step makes, in their order. */
export const choiceNames = (units: readonly RunUnit[]): readonly string[] => [
  ...new Set(units.flatMap(({ steps }) => steps.flatMap(({ choices }) => Object.keys(choices)))),
];

/**
 * How differently two arms choose: the total variation distance between their choices of a kind, the share of choices that would have
 * to be others to make both arms alike. From 0 to 1.
 */
export const choiceDistance = (units: readonly RunUnit[], name: string): DivisionStatistic => {
  const numbers = new Map<string, number>();
  const counts = units.map(({ steps }) => {
    const ofUnit = new Map<number, number>();
    for (const { choices } of steps)
      for (const choice of choices[name] ?? []) {
        const number = numbers.get(choice) ?? numbers.size;
        numbers.set(choice, number);
        ofUnit.set(number, (ofUnit.get(number) ?? 0) + 1);
      }
    return [...ofUnit];
  });
  const totals = counts.map((ofUnit) => ofUnit.reduce((sum, [, count]) => sum + count, 0));
  const [a, b] = [new Float64Array(numbers.size), new Float64Array(numbers.size)];
  return (sides, times) => {
    a.fill(0);
    b.fill(0);
    let [ofA, ofB] = [0, 0];
    for (let unit = 0; unit < counts.length; unit++) {
      const drawn = times[unit]!;
      if (drawn === 0) continue;
      const side = sides[unit] === 1 ? b : a;
      for (const [number, count] of counts[unit]!) side[number]! += drawn * count;
      if (sides[unit] === 1) ofB += drawn * totals[unit]!;
      else ofA += drawn * totals[unit]!;
    }
    if (ofA === 0 || ofB === 0) return null;
    let distance = 0;
    for (let number = 0; number < a.length; number++)
      distance += Math.abs(a[number]! / ofA - b[number]! / ofB);
    return distance / 2;
  };
};
