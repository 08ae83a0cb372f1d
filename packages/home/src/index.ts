export type {
  Annotation,
  Intervention,
  InterventionFilter,
  Interventions,
  InterventionWindow,
} from './audit/intervention-types.ts';
export type {
  ActSummary,
  Audit,
  ComparedCycle,
  ComparedNode,
  ComparedSide,
  Comparison,
  Counted,
  CycleCounts,
} from './audit/types.ts';
export type {
  ExplainedDiff,
  ExplainedDiffEntry,
  ToldCause,
  ToldMoment,
  Why,
  WhyMoment,
} from './causes/types.ts';
export { lineageId } from '@stemma/history';
export { lineOf } from './find.ts';
export type { StepToPlace } from './lineages/place-steps.ts';
export type {
  Configuration,
  LineageNode,
  Lineages,
  Observation,
  Observed,
  SavedPosition,
} from './lineages/types.ts';
export type {
  DiffResult,
  HistorySummary,
  Home,
  Line,
  LineageSummary,
  LoggedEvent,
  Outcome,
  Position,
  ReplayOptions,
  ReplayReport,
  SnapshotSummary,
  TreeAt,
  TreeView,
  VerifyReport,
} from './home.ts';
export type { BisectAnswer, BisectQuestion, ExplainedChange } from './questions/bisect-types.ts';
export type {
  BreakCause,
  CacheReport,
  CacheStep,
  CacheTotal,
  CacheVerdict,
  Measure,
} from './questions/cache-types.ts';
export type { Origin } from './place.ts';
export type { Call, CallOutcome } from './record-call-types.ts';
export type { WatchMessage } from './questions/watch-types.ts';
export { parseByteRange } from './questions/blame.ts';
export type { Blame, BlamePart, ByteRange } from './questions/types.ts';
export { copyLog, type CopyOptions, type CopyReport } from './copy.ts';
export { partitionsOf, type DoctorReport, type Finding, type PartitionHealth } from './doctor.ts';
export { openHome, type HomeOptions } from './open-home.ts';
export { openPatience, type Patience } from './patience.ts';
export { openLogOf, type LogPlace, type OpenedLog } from './open-log.ts';
export { openShared, projectorOf, type Shared } from './open-rows.ts';
export { openSource, type Source, type SourceOptions } from './open-source.ts';
export { entryDocument, stagesDocument } from './stages/documents.ts';
export type {
  StageMove,
  StagesAnswer,
  StagesDiff,
  StagesQuestions,
  StagesSettings,
  StreamEntry,
  StreamPage,
} from './stages/types.ts';
export { restrictExplained } from './selection/restrict-explained.ts';
export type { ExperimentRun, RunOptions } from './experiment/types.ts';
export { pathTo, type PathStep } from './impact/path.ts';
export type { Impact, TaintedBlock, TaintedCall, LostBlock, Stretch } from './impact/types.ts';
