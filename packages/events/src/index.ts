export { ControlEvent, HistoryEvent, type StemmaEvent } from './catalogue.ts';
export { FRAME_VERSION, type Author, type Body, type Envelope, type Frame } from './frame.ts';
export { INTERVENTIONS, type InterventionType } from './intervention-recorded.ts';
export { OBSERVATIONS, type ObservationKind } from './observation-recorded.ts';
export type { RecordedNode } from './recorded-node.ts';
