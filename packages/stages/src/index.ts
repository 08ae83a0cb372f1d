export { collapsePolicy, type CollapsePolicy, type StagePolicy } from './collapse.ts';
export {
  compileStages,
  stageHash,
  type Compilation,
  type CompilerOutput,
  type StageHashes,
  type Stages,
} from './compile.ts';
export { readConfig, STAGE_NAMES, stageNamed, type StageName, type StagesConfig } from './config.ts';
export { countCodePoints } from './code-points.ts';
export { nodeLabel } from './label.ts';
export { describeNode, streamIdOf, type MessageFacts, type NodeFacts } from './describe-node.ts';
export { openEventLog, readEventLog, type EventLog, type EventLogReader } from './event-log.ts';
export { isExactList, isExactObject, NumberText, type ExactJson, type ExactObject } from './exact-json.ts';
export { addText, endHash, startHash, type HashState } from './hash-state.ts';
export { headerItem, type HeaderItem, type HeaderStage, type ReadPayload } from './header.ts';
export type { StreamNode } from './node.ts';
export { nodeHashOf } from './node-hash.ts';
export { canonical, plain } from './print-exact.ts';
export { hashText, PROFILE_NAMES, profileNamed, type Profile, type ProfileName } from './profile.ts';
export { countKinds, rawStage, type RawStage } from './raw.ts';
export { readExactJson } from './read-exact-json.ts';
export { readLogLine, type LogLine } from './read-log.ts';
export { isSecretLike, type SecretPatterns } from './secrets.ts';
export { select, type Selection, type SelectionSummary } from './select.ts';
export { snapshotOf, type StreamSnapshot } from './snapshot.ts';
export { nodeReference, type NodeReference, type SpecStage } from './spec.ts';
export {
  addNode,
  addNodes,
  idsText,
  startStream,
  streamHashes,
  streamStageHashes,
  type StageStream,
} from './stage-stream.ts';
export { treeSelection, type TreeSelection } from './tree-selection.ts';
export { treeView, type TreeView } from './tree-view.ts';
export type { TreeViewNode } from './view-node.ts';
export { readSnapshot, verifySnapshot, type Difference, type KnownSnapshot, type Verdict } from './verify.ts';
