export { countFolding, type Folded, type PartitionStanding } from './folding.ts';
export { checkReady } from './health.ts';
export { METRICS } from './definitions.ts';
export { openMetrics, type Metrics } from './metrics.ts';
export { serveStatus, type StatusServer } from './serve-status.ts';
export { finishWithin, untilEnded } from './until-ended.ts';
export { countWriting, type WritingCounts } from './writing.ts';
