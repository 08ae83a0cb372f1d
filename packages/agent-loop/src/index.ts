export { continueBranch } from './continue-branch.ts';
export type { ContinuedRun, ContinueOptions, RunEnd } from './continue-types.ts';
export type { ToolCall } from './chat-message.ts';
export type { ToolSource } from './tool-sources.ts';
export { retryCall } from './retry-call.ts';
export type { RetriedAnswer, RetriedCall, RetryEdit, RetryOptions, SeenAnswer } from './retry-types.ts';
export type { TextDifference } from './text-differences.ts';
export { openRuns, type RunAnswers } from './open-runs.ts';
