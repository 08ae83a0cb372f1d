export { applyFrame, revertFrame, settle } from './apply-frame.ts';
export type { AppliedFrame, AppliedSnapshot, Started } from './applied-frame.ts';
export { attributeFrame, type Attributed } from './causes/attribute.ts';
export { CAUSES, type Cause, type CauseKind, type Explains, type MutationOp } from './causes/cause.ts';
export { cycleOfFrame, touchesOf, type Touch } from './causes/touches.ts';
export { Command, commandDigest, parseCommand, Step, type StepOf } from './command.ts';
export type { Config, ConfigChange } from './config.ts';
export { decide } from './decide/decide.ts';
export { checkName, historyId } from './history-id.ts';
export {
  interventionIn,
  lineageId,
  positionRef,
  positionsAround,
  type ActedFrame,
  type At,
  type InterventionFacts,
} from './intervention.ts';
export { loadLineage, openHistory, partsOf } from './lineage.ts';
export { payloadIn } from './recorded-node.ts';
export type { ApplyFrame, Decide, Decided, LineageParts, LoadLineage } from './signatures.ts';
export {
  POSITIONS,
  type HistoryState,
  type LineageState,
  type Standing,
  type Lookups,
  type Sources,
} from './state.ts';
export { standingOf } from './lineage.ts';
