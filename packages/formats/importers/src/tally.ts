import { compareCodePoints } from '@stemma/canonical';
import type { ImportSummary } from '@stemma/events';
import { defined } from '@stemma/values';
import type { ImportReport } from './importer.ts';
import { openSummary, type ImportCounts, type SummaryCounter } from './summary.ts';
import type { WarningCode } from './warnings.ts';

/** A report while it is being counted. */
export type Tally = {
  readonly read: Map<string, number>;
  readonly skipped: Map<string, number>;
  readonly unknown: Map<string, number>;
  readonly warnings: string[];
  moreWarnings: number;
  readonly summary: SummaryCounter;
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
  summary: openSummary(),
});

export const addCount = (counts: Map<string, number>, name: string, more = 1): void => {
  const short = name.length > 80 ? `${name.slice(0, 80).toWellFormed()}…` : name;
  const key = counts.has(short) || counts.size < MAX_NAMES ? short : 'others';
  counts.set(key, (counts.get(key) ?? 0) + more);
};

export const addWarning = (tally: Tally, code: WarningCode, sentence: string, count = 1): void => {
  tally.summary.warning(code, sentence, count);
  if (tally.warnings.length < MAX_WARNINGS) tally.warnings.push(sentence);
  else tally.moreWarnings += 1;
};

/** @param holdsMessages false: what is counted is said by its own names alone */
export const importReport = (mapping: string, tally: Tally, holdsMessages = false): ImportReport => ({
  mapping,
  summary: holdsMessages ? tally.summary.summary() : besideMessages(tally.summary.summary()),
  read: sorted(tally.read),
  skipped: sorted(tally.skipped),
  unknown: sorted(tally.unknown),
  warnings: [...tally.warnings],
  moreWarnings: tally.moreWarnings,
});

const sorted = (counts: ReadonlyMap<string, number>): ImportCounts =>
  Object.fromEntries([...counts].sort(([a], [b]) => compareCodePoints(a, b)));

const besideMessages = ({ dropped, warnings }: ImportSummary): ImportSummary =>
  defined({ dropped, warnings });
