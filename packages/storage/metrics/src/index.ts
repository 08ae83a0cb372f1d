export { countFolding, type FoldingProgress, type PartitionStatus } from './count-folding.ts';
export { countWriting } from './count-writing.ts';
export { type LabelsOf, METRICS } from './definitions.ts';
export { checkReady } from './health.ts';
export { type Metrics, openMetrics } from './metrics.ts';
export { serveStatus, type StatusServer } from './serve-status.ts';
export { finishWithin, untilEnded } from './until-ended.ts';
