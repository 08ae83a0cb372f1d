export { bootId } from './boot-id.ts';
export { isLoopback } from './loopback.ts';
export { beganAt, isAlive } from './processes.ts';
export { syncFile } from './sync-file.ts';
