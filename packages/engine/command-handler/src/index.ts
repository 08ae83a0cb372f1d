export type { Outcome } from './outcome.ts';
export { type CommandHandler, type HomeObserver, openCommandHandler } from './command-handler.ts';
export { type ForkSteps, type TriedFork, tryInFork } from './try-in-fork.ts';
