import { compareCodePoints } from '@stemma/canonical';

/** How many there are of each, by names that stand in a file. */
export type ImportCounts = Readonly<Record<string, number>>;

/** Names come from the file, so their number is bounded, and their length: further names are counted together. */
const MOST_NAMES = 200;
const LONGEST_NAME = 80;
const OTHERS = 'others';

/** A text of a file of so many characters at most. */
export const cutText = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text.toWellFormed();

export const addCount = (counts: Map<string, number>, name: string, more = 1): void => {
  const short = cutText(name, LONGEST_NAME);
  const key = counts.has(short) || counts.size < MOST_NAMES ? short : OTHERS;
  counts.set(key, (counts.get(key) ?? 0) + more);
};

/** By their names. `__proto__` is one like any other: a file may hold it. */
export const sortedCounts = (counts: ReadonlyMap<string, number>): ImportCounts =>
  Object.fromEntries([...counts].sort(([a], [b]) => compareCodePoints(a, b)));
