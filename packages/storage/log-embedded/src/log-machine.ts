import type { Entered } from '@stemma/lmdb-gate';
import type { Disk } from './disk.ts';
import type { Job, JobAnswer, WorkerOptions } from './job-messages.ts';
import type { LockEnvironment } from './lock-environment.ts';

/**
 * The holder of the lock, for waiting processes: a process id, and when that process began, if the system shows it (ids
 * are reused). Only information; the environment has the actual lock.
 */
export type Holder = { readonly pid: number; readonly began: string };

/** The thread that appends for a process. `ask` rejects with coded errors. */
export type AppendThread = {
  readonly ask: (job: Job) => Promise<JobAnswer>;
  readonly end: () => Promise<void>;
};

/** @param onFatal is called when the disk did not accept the data; it must end the process. */
export type StartThread = (options: WorkerOptions, onFatal: (message: string) => void) => AppendThread;

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
  /**
   * The lock in a folder that the appending thread of this process has entered.
   *
   * @throws E_LOG_BUSY if another one was put in its place
   */
  readonly enterLockBeside: (folder: string) => EnteredLock;
  /** Whether another process, or another part of this one, has the lock in a folder open. */
  readonly isShared: (folder: string) => boolean;
  readonly startThread: StartThread;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
  readonly newId: () => string;
  /** Resolves when everybody else in the process had a turn: timers, requests, messages of threads. */
  readonly nextTurn: () => Promise<void>;
  /** Calls `fn` again and again; returns what ends it. */
  readonly every: (milliseconds: number, fn: () => void) => () => void;
};
