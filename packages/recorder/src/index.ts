export type { Snapshot } from './backend.ts';
export {
  openRecorder,
  type Forking,
  type Recorded,
  type RecordedCall,
  type Recorder,
  type RecorderOptions,
  type Rolling,
  type Sending,
} from './recorder.ts';
export type { Batch, Injection, NodeGiven, Saving } from './steps.ts';
