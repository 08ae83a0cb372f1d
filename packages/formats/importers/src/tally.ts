import type { ImportSummary } from '@stemma/events';
import { defined } from '@stemma/values';
import type { ImportReport } from './importer.ts';
import { sortedCounts } from './counts.ts';
import { openSummary, type SummaryCounter } from './summary.ts';
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

export const newTally = (): Tally => ({
  read: new Map(),
  skipped: new Map(),
  unknown: new Map(),
  warnings: [],
  moreWarnings: 0,
  summary: openSummary(),
});

export const addWarning = (tally: Tally, code: WarningCode, sentence: string, count = 1): void => {
  tally.summary.warning(code, sentence, count);
  if (tally.warnings.length < MAX_WARNINGS) tally.warnings.push(sentence);
  else tally.moreWarnings += 1;
};

/** @param holdsMessages false: what is counted is said by its own names alone */
export const importReport = (mapping: string, tally: Tally, holdsMessages = false): ImportReport => ({
  mapping,
  summary: holdsMessages ? tally.summary.summary() : besideMessages(tally.summary.summary()),
  read: sortedCounts(tally.read),
  skipped: sortedCounts(tally.skipped),
  unknown: sortedCounts(tally.unknown),
  warnings: [...tally.warnings],
  moreWarnings: tally.moreWarnings,
});

const besideMessages = ({ dropped, warnings }: ImportSummary): ImportSummary =>
  defined({ dropped, warnings });
