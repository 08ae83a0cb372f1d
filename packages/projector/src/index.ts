export { standingOf } from './checkpoint.ts';
export { openRowsElsewhere } from './elsewhere/rows-elsewhere.ts';
export { signatureOf } from './generations.ts';
export { type Group, groupOf, GROUPS } from './groups.ts';
export { openProjector, type Projector, type ProjectorOptions, type ServedRows } from './projector.ts';
export { type BatchLimits, isClosed, type Progress } from './run-partition.ts';
export { type Difference, verifyReplay } from './verify-replay.ts';
