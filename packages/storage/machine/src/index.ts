export { bytesOf } from './bytes-of.ts';
export { anySignal } from './any-signal.ts';
export { bootId } from './boot-id.ts';
export { collectGarbage, collectWhenIdle } from './collect-when-idle.ts';
export {
  makeFolder,
  openFolder,
  replaceFile,
  replaceFileSync,
  shredFile,
  syncFolder,
  syncFolderSync,
  writeOnce,
  writeSynced,
} from './durable-files.ts';
export { endProcess } from './end-process.ts';
export {
  enterGate,
  guardExit,
  isInside,
  isLeaving,
  keepOut,
  leaveGate,
  newExitGate,
  type ExitGate,
} from './exit-gate.ts';
export { keepYoungSmall } from './keep-young-small.ts';
export { isLoopback } from './loopback.ts';
export { beganAt, isAlive } from './processes.ts';
export {
  isIrregular,
  isPresent,
  openFileHandle,
  openRegularFile,
  readRegularFile,
  refuseIrregular,
} from './read-file.ts';
export { retryAttempts, type FailedAttempt, type RetryPolicy } from './retry-attempts.ts';
export { syncFile } from './sync-file.ts';
