export { openBranchCache } from './branch-cache.ts';
export type { BatchLimits } from './batch-limits.ts';
export { decodeCheckpoint, encodeCheckpoint, isClosed } from './checkpoint.ts';
export { checkRowCounts, countedAmong } from './counts/index.ts';
export { openExternalProjection } from './external/external-projection.ts';
export type { FoldContext, StagedBatch } from './fold-frame.ts';
export { foldFrames, type FoldedCounts } from './fold-frames.ts';
export { framesInRows } from './frames-in-rows.ts';
export { signatureOf, tablesOf } from './generations.ts';
export { type Group, groupOf, MAIN_GROUP } from './groups.ts';
export type { ProjectorOptions } from './options.ts';
export { openPayloads } from './payloads.ts';
export type { Projection } from './projection.ts';
export { openProjector, type Projector } from './projector.ts';
export {
  clearCaches,
  foldPartition,
  type PartitionRun,
  type Progress,
  readCheckpoint,
  runPartition,
  type RunPartition,
  toUnknownFrame,
} from './run-partition.ts';
export { withCatchUpDeadline } from './waiting/catch-up-with-deadline.ts';
export { openCommittedRows } from './waiting/committed-rows.ts';
export { type RowDifference, verifyReplay } from './verify-replay.ts';
export { openWindowSize } from './window-size.ts';
