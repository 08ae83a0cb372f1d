export { CALL_STATUSES, CallUsage, ResponseHead, type CallStatus } from './call-finished.ts';
export { CALL_APIS, type CallApi, READ_APIS, type ReadApi } from './call-apis.ts';
export {
  CALL_MATCHES,
  CallAddress,
  CallFidelity,
  type CallMatch,
  type CallOrigin,
  type Fidelity,
  LINK_REASONS,
  type LinkReason,
  PromptSummary,
  SentRequest,
} from './call-started.ts';
export { IMPORT_LINK_REASONS, type ImportLinkReason } from './import-linked.ts';
export { RUN_ENDS, type RunEndedHow } from './run-ended.ts';
export { GitCommit, ProgramEnd } from './run-recorded.ts';
export {
  EffectCause,
  EFFECT_REASONS,
  type EffectReason,
  FILE_CONTENTS,
  FileChange,
  type FileContents,
  isSameFile,
  RecordedFileState,
} from './effect-recorded.ts';
export { FirstDifference, EndedRerunCounts, RerunDetails } from './rerun-ended.ts';
export { AFTER_TIMEOUT, type AfterTimeout } from './call-held.ts';
export { RELEASES, type Release } from './call-released.ts';
export { SteeringChange, STEERINGS, type SteeringKind } from './call-steered.ts';
export { ControlEvent, HistoryEvent, SealedEvent, type StemmaEvent } from './catalogue.ts';
export { type Erasable, erasableOf } from './erasable-of.ts';
export {
  affectedIds,
  branchNames,
  branchNamesIn,
  changedFields,
  changedIds,
  changesBranch,
  changesTree,
  enteredIds,
  enteredIdsIn,
  isOf,
  isOfOne,
  namedPosition,
  newPayload,
  positionNamesIn,
  nodeIn,
  removalBy,
  removedIds,
} from './facts-of-event.ts';
export type { BranchPosition } from './branch-position.ts';
export type { EventCategory, EventOf, Removal } from './facts.ts';
export {
  type Author,
  type Body,
  type Envelope,
  type Frame,
  FRAME_VERSION,
  versionOfEvent,
  versionOfFrame,
} from './frame.ts';
export { ImportSummary } from './import-recorded.ts';
export { INTERVENTIONS, type InterventionType } from './intervention-recorded.ts';
export { type ObservationKind, OBSERVATIONS } from './observation-recorded.ts';
export { isBodyKept, MAX_KEPT, RecordedBody } from './recorded-body.ts';
export type { RecordedNode } from './recorded-node.ts';
export { embedderName, MOST_DIMENSION, MOST_VECTORS, textHash, VectorsRecorded } from './vectors-recorded.ts';
