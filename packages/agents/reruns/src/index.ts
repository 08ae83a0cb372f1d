export { chooseRun, type ChosenRun, type RecordedRunBranch } from './choose-run.ts';
export { listOf, readRecording, type ReadRun, type RunAttempt, type RunCall } from './read-recording.ts';
export { serveRun, type ServedRunOptions } from './serve-run.ts';
export type { LiveOptions, LiveBranch, LiveSettings } from './live-calls.ts';
export type { WhatIf } from './what-if.ts';
export type { AskedCall, CallReply, LiveEnd, LiveUpstream, ServedCalls } from './served-calls.ts';
export { findMessage, type FoundMessage } from './find-message.ts';
