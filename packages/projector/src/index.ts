export { DEFECTS, FENCES, FRAMES, headsOf, readFence, standingOf } from './core-tables.ts';
export { openPayloads, type Payloads, type PayloadsOptions } from './payloads.ts';
export { openProjector, type Projector, type ProjectorOptions } from './projector.ts';
export { isClosed, type BatchLimits, type Progress } from './run-partition.ts';
export { verifyReplay, type Difference, type ReplayOptions, type ReplayReport } from './verify-replay.ts';
