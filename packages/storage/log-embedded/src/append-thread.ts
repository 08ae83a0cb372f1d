import { fail, fromWireError } from '@stemma/errors';
import { Worker } from 'node:worker_threads';
import { guardExit, newExitGate } from '@stemma/machine';
import { type JobAnswer, type JobResponse, type WorkerData } from './job-messages.ts';
import type { StartThread } from './log-machine.ts';

/** Megabytes for what is made and soon forgotten: bytes of records, which are most of what it has, are no part of a heap. */
const YOUNG = 6;

export const startThread: StartThread = (options, onFatal) => {
  const gate = newExitGate();
  const worker = new Worker(new URL('./append-worker.ts', import.meta.url), {
    workerData: { options, gate } satisfies WorkerData,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG },
  });
  const unguard = guardExit(gate);
  const asked = new Map<number, { resolve: (answer: JobAnswer) => void; reject: (error: unknown) => void }>();
  let count = 0;
  let gone: Error | undefined;
  const fatal = (message: string): void => {
    onFatal(message);
    lose(fail('E_IO', message));
  };
  const lose = (error: Error): void => {
    gone = error;
    for (const { reject } of asked.values()) reject(error);
    asked.clear();
  };
  worker.on('message', ({ id, answer }: JobResponse) => {
    const waiter = asked.get(id);
    asked.delete(id);
    if (asked.size === 0) worker.unref();
    if (answer.kind === 'fatal') {
      waiter?.reject(fail('E_IO', answer.message));
      fatal(answer.message);
    } else if (answer.kind === 'failed') {
      waiter?.reject(fromWireError(answer.failure));
    } else waiter?.resolve(answer);
  });
  worker.on('error', (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    lose(fail('E_IO', `the log cannot be opened for writing: ${why}`));
  });
  worker.on('exit', () => {
    unguard();
    lose(gone ?? fail('E_LOG_CLOSED', 'the log was closed'));
  });
  return {
    ask: (job) =>
      new Promise((resolve, reject) => {
        if (gone !== undefined) {
          reject(gone);
          return;
        }
        // Only a request without an answer keeps the process alive.
        worker.ref();
        asked.set(++count, { resolve, reject });
        worker.postMessage(
          { id: count, job },
          job.kind === 'append' ? [job.group.bytes.buffer as ArrayBuffer] : [],
        );
      }),
    end: async () => {
      await worker.terminate();
    },
  };
};
