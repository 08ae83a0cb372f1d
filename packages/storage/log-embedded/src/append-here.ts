import { openAppendJobs, type AppendJobs } from './append-jobs.ts';
import type { AppendGroup, JobAnswer, WorkerOptions } from './job-messages.ts';
import type { LogMachine } from './log-machine.ts';

/** Appends in the thread that calls, as long as that means waiting for a fast disk and for nobody else. */
export type AppendsHere = {
  /** Undefined: nothing was written, and the appending thread has to do it. Call it only while that thread has nothing to do. */
  readonly append: (group: AppendGroup) => JobAnswer | undefined;
  /**
   * Told how long an append took, wherever it was done, in milliseconds.
   *
   * @param handingOver how long it took besides to give a record to the appending thread and to hear of it
   */
  readonly took: (milliseconds: number, handingOver?: number) => void;
  readonly close: () => Promise<void>;
};

/** Milliseconds an append may take on average, wherever it is done. */
const FAST = 1;
/**
 * And so many while handing over takes as long: with all processors busy, each of two threads that wake each other waits for one, and
 * a fast disk looks slow. More than this nobody else in the thread is to wait for.
 */
const FAST_WHILE_BUSY = 5;
/** Before any append was measured, the disk counts as slow. */
const UNKNOWN = 10;
/** What a new measurement counts for in the average: a disk that was slow once is tried again after some fast appends. */
const SHARE = 1 / 8;
/** What handing over took is forgotten while nothing is handed over: sooner or later it is measured again. */
const KEPT = 63 / 64;
/** A command of 1,000 messages; to copy and write them takes half a millisecond. */
const MOST_BYTES = 1024 * 1024;

/**
 * The way around the appending thread (docs/decisions/0102): a record that is alone is written by who has it, with the
 * same lock and the same checks as that thread, since two hand-overs to a thread that sleeps take longer than the disk.
 *
 * @param folder of the lock, which the appending thread of this process has entered
 */
export const openAppendsHere = (machine: LogMachine, options: WorkerOptions, folder: string): AppendsHere => {
  const beside = { ...machine, enterLock: () => machine.enterLockBeside(folder) };
  let jobs: AppendJobs | undefined;
  let average = UNKNOWN;
  let handing = 0;
  const isFast = (): boolean => average <= Math.max(FAST, Math.min(handing, FAST_WHILE_BUSY));
  return {
    append: (group) => {
      if (group.keys.length !== 1 || group.bytes.length > MOST_BYTES) return undefined;
      // With others at the log, who may be stopped while they hold its lock, only the appending thread waits.
      if (!isFast() || machine.isShared(folder)) return undefined;
      jobs ??= openAppendJobs(beside, { ...options, busyAfter: 0 });
      const answer = jobs.answer({ kind: 'append', group });
      return answer.kind === 'failed' && answer.failure.code === 'E_LOG_BUSY' ? undefined : answer;
    },
    took: (milliseconds, handingOver) => {
      average += (milliseconds - average) * SHARE;
      handing = handingOver === undefined ? handing * KEPT : (handing + handingOver) / 2;
    },
    close: async () => {
      jobs?.answer({ kind: 'close' });
      await jobs?.closeLock();
      jobs = undefined;
    },
  };
};
