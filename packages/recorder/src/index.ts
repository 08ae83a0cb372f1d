export type { CallRecorder } from './calls/call-recorder.ts';
export { openCallRecorder } from './calls/open-call-recorder.ts';
export type { CallRecorderOptions, CallScopeOptions } from './calls/options.ts';
export {
  recordAnswer,
  recordCall,
  type RecordedCallHandle,
  type SaidAnswer,
  type SaidCall,
} from './calls/record-call.ts';
export { recordingFetch, type RecordingFetchOptions } from './calls/recording-fetch.ts';
export { recordingMiddleware, type RecordingMiddleware } from './calls/recording-middleware.ts';
export { record } from './calls/record.ts';
export { close, flush, status } from './calls/shared-recorders.ts';
export type { CallRecorderStatus } from './calls/status.ts';
export { openRecorder, type Recorder, type RecorderOptions } from './recorder.ts';
