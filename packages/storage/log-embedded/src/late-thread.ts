import { fail, fromWireError } from '@stemma/errors';
import { openAppendJobs, type AppendJobs } from './append-jobs.ts';
import type { Job, JobAnswer, WorkerOptions } from './job-messages.ts';
import type { AppendThread, JobMachine, StartThread } from './log-machine.ts';

/** What a log needs to be opened without its appending thread. */
export type LateThread = {
  readonly machine: JobMachine;
  readonly startThread: StartThread;
  /** Whether a process has the lock of the log in a directory open. */
  readonly isOpen: (directory: string) => boolean;
};

type LateState = {
  /** What opened the log in the thread that asked for it. */
  opener: AppendJobs | undefined;
  /** Whether it did. */
  isOpened: boolean;
  thread: AppendThread | undefined;
  /** While the thread begins, and when it has begun. */
  beginning: Promise<AppendThread> | undefined;
};

/**
 * The appending thread, which begins with what it is for: to start one takes as long as all else that a command does, and most
 * commands only read (docs/decisions/0158). Until then the log is open in the thread that asks. Where others have it open, who may be
 * stopped while they hold its lock, the appending thread opens it, since nobody else may wait for them.
 */
export const startLate = (
  { machine, startThread, isOpen }: LateThread,
  options: WorkerOptions,
  onFatal: (message: string) => void,
): AppendThread => {
  const state: LateState = { opener: undefined, isOpened: false, thread: undefined, beginning: undefined };
  const closeOpener = async (): Promise<void> => {
    const { opener } = state;
    Object.assign(state, { opener: undefined, isOpened: false });
    opener?.answer({ kind: 'close' });
    await opener?.closeLock();
  };
  /** Opens the log in this thread; undefined: the appending thread has to. */
  const openHere = (): JobAnswer | undefined => {
    if (state.opener === undefined && isOpen(options.directory)) return undefined;
    state.opener ??= openAppendJobs(machine, { ...options, busyAfter: 0 });
    const answer = state.opener.answer({ kind: 'open' });
    state.isOpened ||= answer.kind === 'opened';
    return answer.kind === 'failed' && answer.failure.code === 'E_LOG_BUSY' ? undefined : answer;
  };
  /** The answer to `open` or `close` of a log without its thread; undefined: the appending thread has to give it. */
  const answerHere = async (job: Job): Promise<JobAnswer | undefined> => {
    if (state.thread !== undefined) return undefined;
    if (job.kind === 'open') return openHere();
    if (job.kind !== 'close' || state.opener === undefined) return undefined;
    await closeOpener();
    return { kind: 'closed' };
  };
  const begin = async (): Promise<AppendThread> => {
    const thread = (state.thread ??= startThread(options, onFatal));
    try {
      // Who opened the log leaves it when the thread is there: it is never out of use.
      if (state.isOpened) await thread.ask({ kind: 'open' });
    } catch (error) {
      state.beginning = undefined;
      throw error;
    }
    await closeOpener();
    return thread;
  };
  return {
    ask: async (job) => {
      const answer = await answerHere(job);
      if (answer?.kind === 'failed') throw fromWireError(answer.failure);
      if (answer?.kind === 'fatal') {
        onFatal(answer.message);
        throw fail('E_IO', answer.message);
      }
      if (answer !== undefined) return answer;
      state.beginning ??= begin();
      return (await state.beginning).ask(job);
    },
    end: async () => {
      await state.thread?.end();
      await closeOpener();
    },
  };
};
