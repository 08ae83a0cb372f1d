export { ControlEvent, HistoryEvent, type StemmaEvent } from './catalogue.ts';
export { FRAME_VERSION, type Author, type Body, type Envelope, type Frame } from './frame.ts';
export type { RecordedNode } from './recorded-node.ts';
