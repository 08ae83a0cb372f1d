export { contentHash, isContentAttribute } from './content-hash.ts';
export { changedFields, diffTrees, type TreeDiff } from './diff.ts';
export { exportTree } from './export.ts';
export { completeIds, type FixedIds, freshFixed } from './fixed.ts';
export {
  depthAt,
  type FlatTree,
  isInTurn,
  isSealedCore,
  NO_DEPTH,
  NODE_KIND,
  parentIdAt,
  type TreeParts,
  withContained,
} from './flat-tree.ts';
export { flattenRecords, flattenTree } from './flatten.ts';
export { hashFlat } from './hash-flat.ts';
export { isHeaderName } from './header-names.ts';
export { isoTime, knownTime } from './iso-time.ts';
export { expiryOnEntry } from './lifetime.ts';
export { sumOfTurns } from './lt-hash.ts';
export {
  checkId,
  checkValue,
  type InputErrorContext,
  type NodeInput,
  parseNodeInput,
  priorityOf,
} from './node-input.ts';
export { kindOfType } from './node-type.ts';
export {
  type EventRef,
  type FixedName,
  type FixedRecord,
  type FixedRecords,
  type Headers,
  type NodeLocation,
  type NodeRecord,
  type Payload,
  PAYLOADS,
  type PayloadSource,
  type RecordChange,
  type TurnLocation,
  type TurnRecord,
} from './node.ts';
export { compareSiblings } from './order.ts';
export { type ImportPlan, parseExport, planExport } from './parse-export.ts';
export {
  isInSys,
  refuseInsert,
  requireMovable,
  requireNode,
  requireRemovable,
  requireReplaceable,
} from './placement.ts';
export { partialThread, type ThreadSpan } from './partial-thread.ts';
export { planExpiry } from './plan-expiry.ts';
export { planPrune } from './plan-prune.ts';
export type { Policy, ThreadMode } from './policy.ts';
export { recordsOf } from './records.ts';
export { sumChanges } from './sum-changes.ts';
export {
  bytesAfter,
  messageDifference,
  threadDifference,
  type ThreadDifference,
} from './thread-difference.ts';
export { type ThreadPart, type ThreadPartName, threadParts } from './thread-parts.ts';
export { blockJson, providerThread, roleOf, threadBytes, threadIndexes } from './thread.ts';
export { eachInSubtree, headersOf, idOf, type TreeNode } from './tree-node.ts';
export { type Hashes, Tree } from './tree.ts';
export { type KeptSums, type PartialTree, type Unloaded, UNLOADED, withIds } from './unloaded.ts';
