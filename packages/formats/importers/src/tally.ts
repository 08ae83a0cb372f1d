import { compareCodePoints } from '@stemma/canonical';
import type { ImportCounts, ImportReport } from './importer.ts';

/** A report while it is being counted. */
export type Tally = {
  readonly read: Map<string, number>;
  readonly skipped: Map<string, number>;
  readonly unknown: Map<string, number>;
  readonly warnings: string[];
  moreWarnings: number;
};

const MAX_WARNINGS = 100;
/** Names come from the file, so their number is bounded: further names are counted together. */
const MAX_NAMES = 200;

export const newTally = (): Tally => ({
  read: new Map(),
  skipped: new Map(),
  unknown: new Map(),
  warnings: [],
  moreWarnings: 0,
});

export const addCount = (counts: Map<string, number>, name: string, more = 1): void => {
  const short = name.length > 80 ? `${name.slice(0, 80).toWellFormed()}…` : name;
  const key = counts.has(short) || counts.size < MAX_NAMES ? short : 'others';
  counts.set(key, (counts.get(key) ?? 0) + more);
};

export const addWarning = (tally: Tally, sentence: string): void => {
  if (tally.warnings.length < MAX_WARNINGS) tally.warnings.push(sentence);
  else tally.moreWarnings += 1;
};

export const importReport = (format: string, tally: Tally): ImportReport => ({
  format,
  read: sorted(tally.read),
  skipped: sorted(tally.skipped),
  unknown: sorted(tally.unknown),
  warnings: [...tally.warnings],
  moreWarnings: tally.moreWarnings,
});

const sorted = (counts: ReadonlyMap<string, number>): ImportCounts =>
  Object.fromEntries([...counts].sort(([a], [b]) => compareCodePoints(a, b)));
