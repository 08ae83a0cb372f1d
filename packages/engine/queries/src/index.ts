export { catchUpWith, catchUpWithNamed, readOf } from './catch-up-with.ts';
export {
  type CallAttempt,
  type CallAttempts,
  type CallBody,
  type CallAttemptsPage,
  openCallAttempts,
  type SaidAttempt,
  type ShownCalls,
  type SteeredRequest,
  type WholeCallAttempt,
} from './calls/attempts.ts';
export { unreadReason } from './calls/not-shown.ts';
export { type AnyCall, type AnyCalls, openAnyCalls } from './calls/any-calls.ts';
export {
  openProviderCalls,
  type ProviderCall,
  type ProviderCalls,
  type WholeProviderCall,
} from './calls/provider-calls.ts';
export { openPrices, type Prices } from './calls/prices.ts';
export {
  openProgramRuns,
  type ProgramRun,
  type ProgramRuns,
  type RecordedProgram,
  type RecordedRerun,
} from './runs/program-runs.ts';
export { openRequestedRuns, type RequestedRun, type RequestedRuns } from './runs/runs.ts';
export {
  openWorkspaceFiles,
  type FileDifference,
  type KeptFile,
  type RecordedWorkspace,
  type WorkspaceFiles,
} from './runs/workspace-files.ts';
export { openAudit } from './audit/audit.ts';
export type { Intervention, InterventionFilter } from './audit/intervention-types.ts';
export type { Audit, ComparedFrame, ComparedMessage, ComparedNode, Comparison } from './audit/types.ts';
export { openBranches } from './branches/branches.ts';
export type { UnresolvedStep } from './branches/resolve-steps.ts';
export type { Branches, BranchNode, NewObservation } from './branches/types.ts';
export { openCauses } from './causes/causes.ts';
export type {
  Causes,
  ExplainedDiff,
  ExplainedDiffEntry,
  NodeTimelineEntry,
  TimelineEntryDescription,
  Why,
} from './causes/types.ts';
export { listEventsOfNode } from './causes/why.ts';
export { checkSnapshotRows } from './check-view.ts';
export { openFilmstrip } from './filmstrip/filmstrip.ts';
export type {
  ComparedDecisions,
  DecisionPair,
  DecisionPairing,
  ShownDecision,
} from './audit/decision-types.ts';
export { openOverview } from './overview/overview.ts';
export type { HistoryFigures, Overview } from './overview/types.ts';
export type { FilmCell, FilmCursor, Filmstrip } from './filmstrip/types.ts';
export { followFrom, followLog, readAccepted, readFrameEvents, type EventBatch } from './follow.ts';
export { type PathStep, pathTo } from './impact/path.ts';
export type { CycleSpan, Impact, TaintedCall } from './impact/types.ts';
export { frameSummariesBetween } from './merge-base.ts';
export type { Origin } from './origin-types.ts';
export type { EmbeddedMessage } from '@stemma/read-models';
export { poolMetricsDocument } from './pools/document.ts';
export {
  openPools,
  type EmbeddedPool,
  type PoolMetrics,
  type PoolQuestions,
  type RecordedVectors,
} from './pools/pools.ts';
export type { BisectAnswer, ExplainedChange } from './prompts/bisect-types.ts';
export { bisect } from './prompts/bisect.ts';
export { blameThread, parseByteRange } from './prompts/blame.ts';
export type { BreakCause, CacheReport, CacheStep, CacheTotal } from './prompts/cache-types.ts';
export { buildCacheReport } from './prompts/cache.ts';
export { openQuestions } from './prompts/questions.ts';
export type { Blame, BlamePart, Questions } from './prompts/types.ts';
export type { CallPrompt, CallsOptions } from './prompts/calls-types.ts';
export type { PromptSize, PromptSizes } from './prompts/sizes-types.ts';
export type { WatchMessage } from './prompts/watch-types.ts';
export type {
  DiffResult,
  HistoryFilter,
  HistoryList,
  HistoryImport,
  HistorySummary,
  LoggedEvent,
  SnapshotSummary,
} from './read-types.ts';
export {
  listHistoryPage,
  oneHistory,
  nodeViewOf,
  partialViewOf,
  positionOf,
  snapshotsOf,
  treeAt,
  viewOf,
} from './read.ts';
export { resolvePosition } from './resolve-position.ts';
export { diffNeighbours } from './selection/diff-neighbours.ts';
export { diffPositions } from './selection/diff-positions.ts';
export { openTreeLoader } from './selection/load-tree.ts';
export { restrictExplained } from './selection/restrict-explained.ts';
export { selectIds } from './selection/select-ids.ts';
export { selectRange } from './selection/select-range.ts';
export { findServedBranch, findServedPosition } from './served-histories.ts';
export { entryDocument, stagesDocument } from './stages/documents.ts';
export { openStages } from './stages/open-stages.ts';
export type { StagesAnswer, StagesQuestions, StagesSettings } from './stages/types.ts';
export { hashOfMessage, type MessageHash, openThreadMessages } from './threads/thread-messages.ts';
