export { openThreads, type ThreadsOptions } from './open-threads.ts';
