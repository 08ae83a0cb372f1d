export { type CommandHandler, openCommandHandler } from './command-handler.ts';
export type { HomeObserver } from './observed-writer.ts';
export type { Outcome } from './outcome.ts';
export type { Call, CallOutcome } from './record-call-types.ts';
export { recordCall } from './record-call.ts';
