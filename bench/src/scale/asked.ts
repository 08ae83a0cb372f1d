import type { CpuTimes } from '../audit/cpu.ts';

/** What of an answer grows with a history, and so what its exponent may be. */
export type Growth = 'page' | 'whole';

/** Something that is measured: a page, or all of a history. */
export type Measured<T> = { readonly growth: Growth; readonly ask: (calls: number) => T };

/** Something that is not, with the reason. */
export type Unmeasured = { readonly reason: string };

export type Asked<T> = Measured<T> | Unmeasured;

export const isMeasured = <T>(asked: Asked<T>): asked is Measured<T> => 'ask' in asked;

/** The names that are measured, pages before what is asked for whole: they take less. */
export const namesToMeasure = <T>(
  asked: Readonly<Record<string, Asked<T>>>,
  only: string | undefined,
): readonly (readonly [string, Measured<T>])[] => {
  const wanted = only?.split(',');
  const measured = Object.entries(asked).flatMap(([name, each]) =>
    isMeasured(each) && wanted?.includes(name) !== false ? [[name, each] as const] : [],
  );
  return (['page', 'whole'] as const).flatMap((growth) =>
    measured.filter(([, each]) => each.growth === growth),
  );
};

/** Writes what was measured of a name, for who waits for the others. */
export const printBest = (what: string, name: string, calls: number, best: CpuTimes): void =>
  console.log(JSON.stringify({ what, name, calls, cpu: best.cpu, wall: best.wall }));
