export {
  type Breakpoint,
  breakpointKey,
  breakpointsOf,
  isSteered,
  isSteeringKey,
  steeringOf,
} from './breakpoint.ts';
export type { AppliedFrame, KeptFrame } from './applied-frame.ts';
export { applyFrame, freeMemory, revertFrame } from './apply-frame.ts';
export { branchParts, loadBranch, openHistory } from './branch.ts';
export { type Attributed, attributeFrame } from './causes/attribute.ts';
export { type Cause, CAUSES, type Explains } from './causes/cause.ts';
export { cycleOfFrame, type NodeChange, nodeChangesOf } from './causes/node-changes.ts';
export { Command, commandDigest, parseCommand, type Redaction } from './command.ts';
export type { Config } from './config.ts';
export type { BranchParts } from './branch-parts.ts';
export type { Decided, PendingDecision, DecidedPending } from './contracts.ts';
export { NOT_KEPT } from './decide/redact.ts';
export { checkActor, checkNotes } from './texts.ts';
export { decide, decideNew, decidePending, findRepeated } from './decide/decide.ts';
export { checkName, historyId } from './history-id.ts';
export { namesLike, underFreeName } from './history-names.ts';
export { abandonedBranchAddress, branchAddress } from './branch-address.ts';
export { interventionIn, positionRef, positionsAround } from './intervention.ts';
export { bytesOfBranch } from './memory.ts';
export { isRunScope, runOfScope, scopeOfRun } from './run-scope.ts';
export { payloadIn, splitNode } from './recorded-node.ts';
export { vectorsIn } from './recorded-vectors.ts';
export {
  type BranchState,
  type BranchTip,
  type HistoryState,
  type Lookups,
  POSITIONS,
  type Sources,
} from './state.ts';
export { type AnyStepSpec, specOf, Step, type StepOf, STEPS } from './steps/catalogue.ts';
export { STEP_FIELDS } from './steps/fields.ts';
export { endOfRerun, isRerun, MOST_RERUN_RESULTS, RERUN } from './steps/end-rerun.ts';
export { endOfRun } from './steps/end-run.ts';
export { finishOf } from './steps/finish-call.ts';
export { holdOf } from './steps/hold-call.ts';
export { checkInjectedRole, INJECTED_ROLES } from './steps/inject.ts';
export { MOST_FILES, recordOfSnapshot } from './steps/record-effect.ts';
export { boundImport, type ImportFacts, importStep } from './steps/record-import.ts';
export { recordOfRun } from './steps/record-run.ts';
export { releaseOf } from './steps/release-call.ts';
export type { StepRequest } from './steps/request.ts';
export type { Offered, RecordedEvents, RecordedPosition, Secret } from './steps/step.ts';
