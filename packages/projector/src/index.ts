export { checkpointOf } from './checkpoint.ts';
export { openRowsElsewhere } from './elsewhere/rows-elsewhere.ts';
export { signatureOf } from './generations.ts';
export { GROUPS, groupOf, type Group } from './groups.ts';
export { openPayloads, type Payloads } from './payloads.ts';
export { openProjector, type Projector, type ProjectorOptions, type ServedRows } from './projector.ts';
export { isClosed, type BatchLimits, type Progress } from './run-partition.ts';
export { verifyReplay, type Difference } from './verify-replay.ts';
