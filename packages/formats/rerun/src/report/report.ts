import type { DifferenceCause } from '../difference/difference.ts';
import type { RerunSummary, SummarizedCall } from '../summary.ts';
import type { CallResult, LedTo, WorldDifference } from './call-results.ts';
import type { Binding } from '../values/bindings.ts';

/** The document of `stemma rerun --json`. */
export type RerunReport = {
  readonly rerun: string;
  readonly of: string;
  readonly exit: number;
  /** The exit code of what checked what the agent left behind; null: nothing did. */
  readonly check: number | null;
  /** Calls that are the same, in whatever order. */
  readonly same: number;
  readonly bound: number;
  readonly differs: number;
  readonly extra: number;
  readonly missing: number;
  readonly calls: readonly ReportedCall[];
  readonly world: readonly WorldDifference[];
};

export type ReportedCall = {
  /** Of the recorded call; of an extra one `+1`, `+2` and so on. */
  readonly label: string;
  readonly how: CallResult;
  readonly bindings: readonly Binding[];
  readonly difference: ReportedDifference | null;
  readonly led_to: LedTo | null;
};

export type ReportedDifference = {
  /** The number of the message, from 1. */
  readonly message: number | null;
  readonly role: string | null;
  readonly a: string | null;
  readonly b: string | null;
  readonly cause: DifferenceCause | 'extra' | 'missing';
  /** The node of the message in the recording. */
  readonly node: string | null;
  /** The event that recorded it. */
  readonly by: string | null;
};

/** The exit codes of the agent: when it was recorded, and now; and of what checked what it left behind. Null: not known. */
export type AgentEnds = {
  readonly recorded: number | null;
  readonly now: number | null;
  readonly check: number | null;
};

/** Where the recording has a message of a call: its node, and the event that recorded it. */
export type RecordedLocation = { readonly node: string | null; readonly by: string | null };

/** Finds where the recording has a message. @param message its number, from 0 */
export type LocationOf = (label: string, message: number) => RecordedLocation | null;

/** What a report says besides what came of the calls. */
export type ReportFacts = {
  /** What the rerun is called. */
  readonly rerun: string;
  /** What was run again. */
  readonly of: string;
  readonly ends: AgentEnds;
  readonly locationOf: LocationOf;
};

/** 5: a call differs, is missing or too many; else 1: the agent ended with another code, or its check failed; else 0. */
export const rerunExit = ({ counts }: RerunSummary, { recorded, now, check }: AgentEnds): 0 | 1 | 5 => {
  if (counts.differs > 0 || counts.extra > 0 || counts.missing > 0) return 5;
  if (check !== null && check !== 0) return 1;
  return recorded !== null && now !== null && recorded !== now ? 1 : 0;
};

/** The document of `stemma rerun --json`; calls that the provider answered are in the fork, and not here. */
export const rerunReport = (
  summary: RerunSummary,
  { rerun, of, ends, locationOf }: ReportFacts,
): RerunReport => {
  const { same, bound, differs, extra, missing } = summary.counts;
  return {
    rerun,
    of,
    exit: rerunExit(summary, ends),
    check: ends.check,
    same,
    bound,
    differs,
    extra,
    missing,
    calls: summary.calls.filter(({ how }) => how !== 'live').map((call) => reportedCall(call, locationOf)),
    world: summary.world,
  };
};

const reportedCall = (call: SummarizedCall, locationOf: LocationOf): ReportedCall => ({
  label: call.label,
  how: call.how,
  bindings: call.bindings,
  difference: reportedDifference(call, locationOf),
  led_to: call.ledTo,
});

const reportedDifference = (
  { label, how, difference }: SummarizedCall,
  locationOf: LocationOf,
): ReportedDifference | null => {
  if (how === 'extra' || how === 'missing')
    return { message: null, role: null, a: null, b: null, cause: how, node: null, by: null };
  if (difference === null) return null;
  const { message, role, a, b, cause } = difference;
  const place = message === null || a === null ? null : locationOf(label, message);
  return {
    message: message === null ? null : message + 1,
    role,
    a,
    b,
    cause,
    node: place?.node ?? null,
    by: place?.by ?? null,
  };
};
