import { hasOthers } from '@stemma/lmdb-gate';
import { bootId } from '@stemma/machine';
import { nanosecondsOf } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { startThread } from './append-thread.ts';
import { thisDisk } from './disk.ts';
import { endsWithItsHash } from './find-end.ts';
import { isHolderAlive, thisProcess } from './holder.ts';
import { startLate } from './late-thread.ts';
import { enterLock, enterLockBeside, isLockInUse, openLockEnvironment } from './lock-environment.ts';
import type { LogMachine } from './log-machine.ts';

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** The machine that this process runs on. */
export const thisMachine: LogMachine = {
  disk: thisDisk,
  isWhole: endsWithItsHash,
  boot: bootId,
  enterLock,
  self: thisProcess,
  isAlive: isHolderAlive,
  now: () => performance.now(),
  pause: (milliseconds) => void Atomics.wait(sleeper, 0, 0, milliseconds),
  openLock: openLockEnvironment,
  enterLockBeside,
  isShared: hasOthers,
  startThread: (options, onFatal) =>
    startLate({ machine: thisMachine, startThread, isOpen: isLockInUse }, options, onFatal),
  clock: () => nanosecondsOf(Date.now()),
  newId: randomUUID,
  nextTurn: () => setImmediate(),
  every: (milliseconds, fn) => {
    const timer = setInterval(fn, milliseconds);
    return () => clearInterval(timer);
  },
};
