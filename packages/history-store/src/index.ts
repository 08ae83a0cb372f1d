export {
  type BlockVersion,
  newestTurn,
  readBlocksAt,
  readBlockVersions,
  turnCycles,
} from './block-versions.ts';
export { lineageName, lineOf, mainStrand, positionIn } from './branch-names.ts';
export { type Link, readChain, readStrand } from './chain.ts';
export { type Fold, foldFrame } from './fold-frame.ts';
export { findSnapshot, listSnapshots, type SnapshotRow } from './list-snapshots.ts';
export {
  isIdTaken,
  lineageNamed,
  namedPosition,
  readStanding,
  rememberedCommand,
  wasThereAtStart,
} from './look-up.ts';
export { nearestMark } from './mark.ts';
export { nodeCourse, type NodeStep } from './node-course.ts';
export { nodeReader, type NodesAt, turnAt } from './node-reader.ts';
export { type Line, type Position, positionLabelled } from './position.ts';
export { readNode } from './read-node.ts';
export { readPart } from './read-part.ts';
export { readConfig, readFlatTree, readHead, readLineage, readLinks, readPosition } from './read-position.ts';
export {
  DEFECTS,
  fenceCells,
  FENCES,
  FRAME_BYTES,
  frameAt,
  FRAMES,
  headsOf,
  putFrame,
  readFence,
  RECORD_TABLES,
} from './record-tables.ts';
export { HISTORY_STORE } from './snapshots.ts';
export { threadCourse, type ThreadEntry, type ThreadSlice, type ThreadStep } from './thread-course.ts';
export type { TreeAt, TreeView } from './tree-view.ts';
export { walkBack, type WalkStep, type WalkStop } from './walk-back.ts';
