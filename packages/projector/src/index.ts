export { DEFECTS, FENCES, FRAMES, headsOf, readFence, checkpointOf } from './core-tables.ts';
export { openPayloads, type Payloads, type PayloadsOptions } from './payloads.ts';
export { GROUPS, groupOf, type Group } from './groups.ts';
export { signatureOf } from './generations.ts';
export { openProjector, type Projector, type ProjectorOptions, type ServedRows } from './projector.ts';
export { openRowsElsewhere, type RowsElsewhereOptions } from './elsewhere/rows-elsewhere.ts';
export { isClosed, type BatchLimits, type Progress } from './run-partition.ts';
export { verifyReplay, type Difference, type ReplayOptions, type ReplayReport } from './verify-replay.ts';
