export type { Snapshot } from './backend.ts';
export {
  openRecorder,
  type Recorded,
  type RecordedCall,
  type Recorder,
  type RecorderOptions,
  type Sending,
} from './recorder.ts';
export type { Batch, NodeGiven } from './steps.ts';
