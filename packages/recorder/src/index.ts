export { openRecorder, type Recorder, type RecorderOptions } from './recorder.ts';
