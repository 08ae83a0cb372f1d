export { audit } from './audit/audit.ts';
export {
  type CallInHistory,
  type CallRow,
  positionFollowing,
  callsAfter,
  callsAnsweredWith,
  callsThatAsked,
  callsKeptAs,
  callsThatBrought,
  callsWithPrompt,
  countCallsAt,
  findCallRow,
  type FinishedCall,
  firstCallRow,
  listCalledPositions,
  listCallRows,
  listCallsAt,
  listNewestCallRows,
  newestCallRow,
  newestCallUpTo,
  newestCalledPosition,
  NO_SESSION,
  sessionOfBranch,
} from './audit/calls/queries.ts';
export { eachHash, hashOfSaid, messageHash, scopeSeed } from './audit/calls/message-hash.ts';
export { type CallLink, type LinkedBranch, listCallLinks, listLedTo } from './audit/calls/call-links.ts';
export { listWaitingCalls, type WaitingCall } from './audit/calls/run-calls.ts';
export { findImport } from './audit/imports/queries.ts';
export {
  findIntervention,
  type InterventionQuery,
  type InterventionRow,
  listInterventions,
  listObservations,
} from './audit/interventions/queries.ts';
export {
  findProviderCallRow,
  listProviderCallRows,
  type ProviderCallRow,
} from './audit/provider-calls/queries.ts';
export { listFileChanges, listSnapshotParts, type SnapshotPartRow } from './audit/effects/queries.ts';
export {
  countCallsOfRun,
  findRecordedRun,
  firstCallOfRun,
  historiesOfRun,
  listReruns,
  listRunsIn,
  type RecordedRunRow,
  type RerunRow,
  type RunInHistory,
} from './audit/runs/recorded-runs.ts';
export { findPoolRun, listOpenRuns, listPoolRuns, type PoolRunRow } from './audit/runs/queries.ts';
export {
  authorOf,
  type BranchRow,
  findBranch,
  findFrameSummary,
  findHistory,
  type FrameSummary,
  type HistoryRow,
  listBranches,
  listFrameSummaries,
  type LabelRow,
  listHistories,
  listLabels,
  listNamedPositions,
  listNewestBranches,
  listNotes,
  listNotesAt,
  type NamedPositionRow,
} from './audit/branches/queries.ts';
export { INTERVENTIONS } from './audit/interventions/tables.ts';
export { ALL_FOLDS, READ_MODELS } from './catalogue.ts';
export { type AncestryView, findCycle, readAncestryView } from './diffs/ancestry-view.ts';
export { diffs } from './diffs/diffs.ts';
export {
  type BranchFrames,
  type Ends,
  type ReadChanges,
  readDiffCandidates,
  readFramesApart,
} from './diffs/diff-candidates.ts';
export { readPairCandidates } from './diffs/pair-candidates.ts';
export { type DiffCause, explainDiff, type ExplainedEntry } from './diffs/explain.ts';
export { presenceOf } from './diffs/presence.ts';
export { listChangedNodes, readNodeChanges, readTimeline, type TimelineEntry } from './diffs/timeline.ts';
export {
  type EmbeddedMessage,
  listEmbeddedMessages,
  listPoolMetrics,
  type PoolAttractor,
  type PoolSnapshot,
} from './pool/queries.ts';
export { embedderIn, embedderRow, vectorOf } from './pool/pool-rows.ts';
export type { ReadModel } from './read-model.ts';
export { type MessageRole, messageRole, NO_TOKENS, type RoleTokens } from './sizes/roles.ts';
export { sizes } from './sizes/sizes.ts';
export type { DecidedTool, Decisions, GoneBy } from './sizes/decisions.ts';
export { findPromptSize, listSizes, readThreadLength, type SizeRow } from './sizes/size-rows.ts';
export {
  loadingTokenizer,
  textOfContent,
  tokenCounter,
  type TokenCounter,
  TOKENIZER_NAME,
} from './sizes/tokens.ts';
export type { StageNode } from './stages/node-row.ts';
export { payloadFrame, payloadOf } from './stages/payload-of.ts';
export { countStream, findSnapshotStages, listFrameNodes, listStream } from './stages/queries.ts';
export { stages } from './stages/stages.ts';
export {
  findHeldCall,
  findSteeredCall,
  type HeldCallRow,
  listHeldCalls,
  listSteeredBranches,
  listUnreleasedCalls,
  type SteeredCallRow,
} from './audit/steering/queries.ts';
