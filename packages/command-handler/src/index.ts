export { type CommandHandler, type HomeObserver, openCommandHandler } from './command-handler.ts';
export type { Outcome } from './outcome.ts';
export type { Call, CallOutcome } from './record-call-types.ts';
export { recordCall } from './record-call.ts';
