export type { CascadeFact, CommitFact, ExpiryFact, HoldFact, PruneFact } from './commit-fact.ts';
export { contentHash, isContentAttribute } from './content-hash.ts';
export { changedFields, diffTrees, type Diff } from './diff.ts';
export { exportedAttributes, exportTree, SPEC_VERSION } from './export.ts';
export { completeIds, FIXED_NAMES, FIXED_TYPES, fixedHeaders, freshFixed, type FixedIds } from './fixed.ts';
export { NO_DEPTH, NODE_KIND, type FlatTree, type TreeParts } from './flat-tree.ts';
export { flattenRecords, flattenTree } from './flatten.ts';
export { hashFlat } from './hash-flat.ts';
export { isHeaderName, isKeptHeader } from './header-names.ts';
export { isoTime } from './iso-time.ts';
export { expiryOnEntry, expiryOnImport, shownTtl } from './lifetime.ts';
export {
  checkId,
  checkValue,
  parseNodeInput,
  priorityOf,
  type Blame,
  type GivenHeaders,
  type NodeInput,
} from './node-input.ts';
export { canonicalType, kindOfType, type CanonicalType } from './node-type.ts';
export {
  PAYLOADS,
  type Change,
  type EventRef,
  type FixedName,
  type FixedRecord,
  type FixedRecords,
  type Headers,
  type NodeRecord,
  type Payload,
  type PayloadSource,
  type Place,
  type Region,
  type SysPlace,
  type TurnPlace,
  type TurnRecord,
} from './node.ts';
export { compareSiblings, type SiblingKey } from './order.ts';
export { parseExport, type ImportPlan, type PlannedNode } from './parse-export.ts';
export {
  existing,
  liesInSys,
  movable,
  refuseInsert,
  removable,
  replaceable,
  type Placed,
} from './placement.ts';
export { planExpiry, type ExpiryPlan } from './plan-expiry.ts';
export { planPrune } from './plan-prune.ts';
export type { Policy, ThreadMode } from './policy.ts';
export type { Mark } from './journal.ts';
export { recordsOf } from './records.ts';
export { invertChange, sumChanges } from './sum-changes.ts';
export { blockJson, providerThread, threadBytes, threadIndexes, type ThreadBlock } from './thread.ts';
export { threadParts, type ThreadPart, type ThreadPartName, type ThreadParts } from './thread-parts.ts';
export { Tree, type Counts, type Entering, type Hashes } from './tree.ts';
export { eachInSubtree, headersOf, idOf, isHeld, type TreeNode } from './tree-node.ts';
