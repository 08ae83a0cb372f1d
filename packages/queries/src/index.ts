export { auditOf } from './audit/audit.ts';
export type { Intervention, InterventionFilter } from './audit/intervention-types.ts';
export type { ActSummary, Audit, ComparedNode, Comparison } from './audit/types.ts';
export { lineagesOf } from './branches/lineages.ts';
export type { StepToPlace } from './branches/place-steps.ts';
export type { LineageNode, Lineages, Observed } from './branches/types.ts';
export { causesOf } from './causes/causes.ts';
export type {
  Causes,
  ExplainedDiff,
  ExplainedDiffEntry,
  ToldMoment,
  Why,
  WhyMoment,
} from './causes/types.ts';
export { eventsAbout } from './causes/why.ts';
export { followFrom, followLog, frameEvents } from './follow.ts';
export { type PathStep, pathTo } from './impact/path.ts';
export type { Impact, Stretch, TaintedCall } from './impact/types.ts';
export { actsBetween } from './meeting.ts';
export type { Origin } from './origin-types.ts';
export type { BisectAnswer, ExplainedChange } from './prompts/bisect-types.ts';
export { parseByteRange } from './prompts/blame.ts';
export type { BreakCause, CacheReport, CacheStep, CacheTotal } from './prompts/cache-types.ts';
export { questionsOf } from './prompts/questions.ts';
export type { Blame, BlamePart, Questions } from './prompts/types.ts';
export type { WatchMessage } from './prompts/watch-types.ts';
export type { DiffResult, HistorySummary, LoggedEvent, SnapshotSummary } from './read-types.ts';
export { allHistories, oneHistory, positionOf, snapshotsOf, treeAt, viewOf } from './read.ts';
export { resolvePosition } from './resolve-position.ts';
export { diffPositions } from './selection/diff-positions.ts';
export { openTreeLoader } from './selection/load-tree.ts';
export { restrictExplained } from './selection/restrict-explained.ts';
export { selectIds } from './selection/select-ids.ts';
export { selectRange } from './selection/select-range.ts';
export { servedLine, servedPosition } from './served.ts';
export { entryDocument, stagesDocument } from './stages/documents.ts';
export { openStages } from './stages/open-stages.ts';
export type { StagesAnswer, StagesQuestions, StagesSettings } from './stages/types.ts';
export { bisect } from './prompts/bisect.ts';
export { blameThread } from './prompts/blame.ts';
export { cacheReport } from './prompts/cache.ts';
export { tokenCounter } from './prompts/tokens.ts';
