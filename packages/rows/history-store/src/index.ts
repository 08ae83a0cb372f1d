export { readAncestorPath, readBranch, type Segment } from './ancestor-path.ts';
export {
  type BlockVersion,
  newestTurn,
  readBlocksAt,
  readBlockVersions,
  turnCycles,
} from './block-versions.ts';
export { branchAddressOf, branchRefOf, mainBranchId, positionOfFrame } from './branch-names.ts';
export { windowOfCycles } from './cycle-window.ts';
export { checkBranchRows, checkLoadedBranch, snapshotAtPosition } from './check-rows.ts';
export { type Fold, foldFrame } from './fold-frame.ts';
export { HISTORY_STORE } from './history-store.ts';
export {
  findSnapshot,
  findSnapshotOn,
  listOwnSnapshots,
  listSnapshots,
  sealedTurn,
  type SnapshotPageQuery,
  type SnapshotRow,
} from './list-snapshots.ts';
export { loadBranchFromRows, loadTurns } from './load-branch.ts';
export {
  findBranchByName,
  findCommand,
  listLookups,
  findNamedPosition,
  findFirstFrame,
  isFromFirstFrame,
  isIdTaken,
  readBranchTip,
} from './lookups.ts';
export { netChanges } from './net-changes.ts';
export { type NodeHistoryEntry, readNodeHistory } from './node-history.ts';
export { type AncestryScope, findTurn, openNodeReader } from './node-reader.ts';
export { readPositionMeta } from './position-meta.ts';
export { type BranchRef, labelPosition, type Position } from './position.ts';
export { readNode } from './read-node.ts';
export { readNodeTree } from './read-node-tree.ts';
export { readExpiringIds } from './expiring-nodes.ts';
export {
  hasTurnsImportedLast,
  type LocationRange,
  readLocations,
  readPartialTree,
} from './read-partial-tree.ts';
export {
  readBranchState,
  readConfig,
  readFlatTree,
  readPosition,
  readSegments,
  readTipSeq,
} from './read-position.ts';
export {
  DEFECTS,
  findFrame,
  findFrames,
  FRAME_BYTES,
  FRAMES,
  HISTORY_HEADS,
  putHistoryHead,
  putFrame,
  readHistoryHead,
  readHistoryHeads,
  RECORD_TABLES,
} from './record-tables.ts';
export { rowsDiffer } from './rows-differ.ts';
export { sumOfRecords } from './sum-records.ts';
export { openSnapshotWalk, type SnapshotPosition, type WalkStep } from './snapshot-walk.ts';
export {
  readThreadTimeline,
  type ThreadEntry,
  type ThreadSlice,
  type ThreadStep,
} from './thread-timeline.ts';
export { COUNTED_TABLES } from './tables.ts';
export type { TreeAt, TreeView } from './tree-view.ts';
