export type {
  AttemptOutcome,
  RecordedAttempt,
  RecordedConversation,
  RecordedCycle,
  RecordedParent,
  Recording,
} from './recording.ts';
export { DEFAULT_OPTIONS, type MovedFolder, type RerunOptions } from './options.ts';
export type { LiveCall, LiveStart, Match, Served, ServedHow } from './matches.ts';
export { openRerun, type Rerun } from './rerun.ts';
export type { RerunCounts, RerunSummary, SummarizedCall } from './summary.ts';
export { planRerun, type RefusedCall, type RerunPlan } from './plan.ts';
export {
  describedDifference,
  type AskedBy,
  type DifferenceCause,
  type Difference,
} from './difference/difference.ts';
export type { Binding, ReplacedPart, Replacements, ValueKind } from './values/bindings.ts';
export type { Mask } from './values/masks.ts';
export type { CallResult, LedTo, WorldDifference } from './report/call-results.ts';
export type { ReportedCall, ReportedDifference, RerunReport } from './report/report.ts';
export {
  rerunExit,
  rerunReport,
  type AgentEnds,
  type RecordedLocation,
  type LocationOf,
  type ReportFacts,
} from './report/report.ts';
export { reportLines, type LineFacts } from './report/report-lines.ts';
export { proposeMasks, type ObservedCall, type ProposedMask } from './values/propose-masks.ts';
export { replaceInBody } from './values/replace-in-body.ts';
