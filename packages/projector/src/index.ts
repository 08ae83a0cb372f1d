export { decodeCheckpoint, isClosed } from './checkpoint.ts';
export { openExternalProjection } from './external/external-projection.ts';
export { signatureOf } from './generations.ts';
export { type Group, groupOf, MAIN_GROUP } from './groups.ts';
export { openProjector, type Projection, type Projector } from './projector.ts';
export { checkRowCounts } from './row-counts.ts';
export type { Progress } from './run-partition.ts';
export { type RowDifference, verifyReplay } from './verify-replay.ts';
