import type { Entered } from '@stemma/lmdb-gate';
import { bootId } from '@stemma/machine';
import { randomUUID } from 'node:crypto';
import { thisDisk, type Disk } from './disk.ts';
import { endsWithItsHash } from './find-end.ts';
import { isHolderAlive, thisProcess, type Holder } from './holder.ts';
import { enterLock, openLockEnvironment, type LockEnvironment } from './lock-environment.ts';
import { startThread, type StartThread } from './append-thread.ts';

/** The lock between processes, entered. */
export type EnteredLock = Pick<Entered<LockEnvironment>, 'opened' | 'folder' | 'isReplaced' | 'leave'> & {
  readonly gate: Pick<Entered<LockEnvironment>['gate'], 'pass'>;
};

/** What whoever appends needs of the machine that it runs on. */
export type JobMachine = {
  readonly disk: Disk;
  /** `endsWithItsHash`; simulations leave it out to see what it is for. */
  readonly isWhole: (record: Uint8Array) => boolean;
  /** See `bootId` of the package machine. */
  readonly boot: () => string;
  /** As `enterLock`. */
  readonly enterLock: (directory: string, replaced: (damage: string) => void) => EnteredLock;
  readonly self: () => Holder;
  readonly isAlive: (holder: Holder) => boolean;
  /** A steady clock in milliseconds. */
  readonly now: () => number;
  /** Waits, in milliseconds, and does nothing else meanwhile. */
  readonly pause: (milliseconds: number) => void;
};

/** What an embedded log needs of the machine that it runs on. Simulations put another in its place. */
export type LogMachine = JobMachine & {
  /** Another opening of the lock in a folder that was entered. */
  readonly openLock: (folder: string) => LockEnvironment;
  readonly startThread: StartThread;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
  readonly newId: () => string;
  /** Calls `fn` again and again; returns what ends it. */
  readonly every: (milliseconds: number, fn: () => void) => () => void;
};

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
  startThread,
  clock: () => BigInt(Date.now()) * 1_000_000n,
  newId: randomUUID,
  every: (milliseconds, fn) => {
    const timer = setInterval(fn, milliseconds);
    return () => clearInterval(timer);
  },
};
