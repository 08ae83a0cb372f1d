import type { DescribedCounts } from '@stemma/api';
import type { Difference } from './difference/difference.ts';
import { servedAttempts } from './plan.ts';
import type { RerunCall } from './rerun-call.ts';
import type { CallResult, LedTo, WorldDifference } from './report/call-results.ts';
import type { LiveEntry, RerunState } from './rerun-state.ts';
import type { Binding } from './values/bindings.ts';
import { pairOf } from './values/ledger.ts';

/** What came of a rerun, with all that its report is made of. */
export type RerunSummary = {
  /** In the order in which calls came; behind them those that are missing, as recorded. */
  readonly calls: readonly SummarizedCall[];
  readonly counts: RerunCounts;
  readonly world: readonly WorldDifference[];
  /** Values that were bound, each once, in the order in which they were. */
  readonly bindings: readonly Binding[];
  /** Sentences for people: attempts that were not asked for, differences that are a guess. */
  readonly notes: readonly string[];
};

/** `recorded`: calls of the recording. */
export type RerunCounts = DescribedCounts & { readonly recorded: number };

export type SummarizedCall = {
  /**
   * Of the recorded call; of an extra one `+1`, `+2` and so on. Live calls behind the one that stands in the place of `@c4` are `@c4+1`,
   * `@c4+2` and so on.
   */
  readonly label: string;
  readonly how: CallResult;
  readonly bindings: readonly Binding[];
  readonly difference: Difference | null;
  /** Of a difference in a message: the recorded calls that show it, as recorded; empty for others. */
  readonly shownTo: readonly string[];
  readonly ledTo: LedTo | null;
};

/** What came of the calls so far. */
export const summaryOf = (state: RerunState): RerunSummary => {
  const { entries, recorded, leftOut, world } = state;
  const labelOf = openLabels();
  const came = entries.map((entry): SummarizedCall => {
    const label = labelOf(entry);
    const shown = entry.call === null ? [] : shownTo(state, entry.call, entry.difference);
    return {
      label,
      how: entry.how,
      bindings: entry.bindings,
      difference: entry.difference && { ...entry.difference, among: amongNow(state, entry) },
      shownTo: shown.map(({ cycle }) => cycle.label),
      ledTo: shown.length === 0 ? null : ledTo(shown),
    };
  });
  const missing = recorded.all
    .filter((call) => call.played === 'no' && !leftOut.has(call))
    .map(({ cycle }) => missingCall(cycle.label));
  const calls = [...came, ...missing];
  return {
    calls,
    counts: { ...countsOf(calls), recorded: recorded.all.length },
    world: [...world],
    bindings: [
      ...new Map(entries.flatMap(({ bindings }) => bindings.map((each) => [pairOf(each), each]))).values(),
    ],
    notes: notesOf(state, came),
  };
};

/** Names calls as they come. Live ones all stand at the recorded call where their conversation left: the first one that does has its label. */
const openLabels = (): ((entry: LiveEntry) => string) => {
  const behind = new Map<string, number>();
  const taken = new Set<string>();
  return ({ call, how }) => {
    const label = call?.cycle.label ?? '';
    if (label !== '' && (how !== 'live' || !taken.has(label))) {
      taken.add(label);
      return label;
    }
    const number = (behind.get(label) ?? 0) + 1;
    behind.set(label, number);
    return `${label}+${number}`;
  };
};

/** How many recorded calls one that differs might stand for, now that others have come: itself, and those that are still missing. */
const amongNow = ({ recorded, leftOut }: RerunState, { call, difference }: LiveEntry): number => {
  const missing = recorded.all.filter(
    (each) =>
      each.played === 'no' &&
      !leftOut.has(each) &&
      (call?.isBeginning === true ? each.isBeginning : each.before === call?.before),
  ).length;
  return Math.min(difference?.among ?? 1, missing + 1);
};

const missingCall = (label: string): SummarizedCall => ({
  label,
  how: 'missing',
  bindings: [],
  difference: null,
  shownTo: [],
  ledTo: null,
});

const countsOf = (calls: readonly SummarizedCall[]): DescribedCounts => {
  const count = (...hows: readonly CallResult[]): number =>
    calls.filter(({ how }) => hows.includes(how)).length;
  return {
    same: count('same', 'other order'),
    bound: count('bound'),
    differs: count('differs'),
    extra: count('extra'),
    missing: count('missing'),
    live: count('live'),
    notKept: count('not kept'),
  };
};

/** The recorded calls that show the message in which a call differs. */
const shownTo = (
  { recorded }: RerunState,
  { read }: RerunCall,
  difference: Difference | null,
): readonly RerunCall[] => {
  const message = difference?.message ?? null;
  if (message === null || difference?.a === null) return [];
  const shown = read.messages.slice(0, message + 1);
  return recorded.all.filter(
    ({ read: { messages } }) =>
      messages[message]?.exact === shown[message]?.exact &&
      shown.every(({ masked }, i) => messages[i]?.masked === masked),
  );
};

const ledTo = (calls: readonly RerunCall[]): LedTo => ({
  calls: calls.length,
  tokens: calls.reduce((sum, { cycle }) => sum + (cycle.tokens ?? 0), 0),
});

const notesOf = (
  { recorded, options, leftOut }: RerunState,
  came: readonly SummarizedCall[],
): readonly string[] => {
  const left = recorded.all.filter(
    (call) =>
      call.played === 'yes' &&
      !leftOut.has(call) &&
      call.nextAttempt < servedAttempts(call.cycle, options).length,
  );
  return [
    ...left.map(({ cycle, nextAttempt }) => {
      const attempts = servedAttempts(cycle, options).length;
      return `${cycle.label} was recorded with ${attempts} attempts; the agent asked for ${nextAttempt}`;
    }),
    ...maskedNotes(came),
    ...came.flatMap(({ difference }) =>
      difference === null || difference.among === 1
        ? []
        : [
            `that a call stands for ${difference.of} is a guess: it might stand for ${difference.among} calls`,
          ],
    ),
  ];
};

/** How many values each mask bound in all calls together. */
const maskedNotes = (came: readonly SummarizedCall[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const { bindings } of came)
    for (const { mask } of bindings) if (mask !== undefined) counts.set(mask, (counts.get(mask) ?? 0) + 1);
  return [...counts].map(([mask, count]) => `the mask ${mask} bound ${count} value${count === 1 ? '' : 's'}`);
};
