export { countCodePoints } from './code-points.ts';
export { collapsePolicy, type CollapsePolicy } from './collapse.ts';
export { type Compilation, type CompilerOutput, compileStages, type StageHashes } from './compile.ts';
export { readConfig, STAGE_NAMES, type StageName, stageNamed, type StagesConfig } from './config.ts';
export { describeNode, type NodeFacts, streamIdOf } from './describe-node.ts';
export { type ExactJson, type ExactObject, isExactList, isExactObject, NumberText } from './exact-json.ts';
export { nodeLabel } from './label.ts';
export type { StreamNode } from './node.ts';
export { printCanonical, printPlain } from './print-exact.ts';
export { hashText, type Profile, PROFILE_NAMES, type ProfileName, profileNamed } from './profile.ts';
export { readExactJson } from './read-exact-json.ts';
export { readLogLine } from './read-log.ts';
export {
  isSecretLike,
  nameOfKind,
  PRIVATE_KEY_SPAN,
  SECRET_SPANS,
  secretKind,
  type SecretSpan,
} from './secrets.ts';
export { snapshotOf, type StreamSnapshot } from './snapshot.ts';
export { openEventLogReader, readEventLog, type StreamEventLog } from './stream-event-log.ts';
export { type StageTreeView, treeView } from './tree-view.ts';
export { readSnapshot, type SnapshotVerdict, verifySnapshot } from './verify.ts';
export type { TreeViewNode } from './view-node.ts';
