export type { Outcome } from './outcome.ts';
export { type Erasable, erasableOf } from './erasable-of.ts';
export { inOrderByKey } from './in-order.ts';
export { type CommandHandler, type HomeObserver, openCommandHandler } from './command-handler.ts';
export { type ForkSteps, type TriedFork, tryInFork } from './try-in-fork.ts';
export { namesLike, openHistoryNames, underFreeName } from './history-names.ts';
