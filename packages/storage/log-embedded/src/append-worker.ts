import { parentPort, workerData } from 'node:worker_threads';
import { openAppendJobs } from './append-jobs.ts';
import { enterGate, leaveGate } from '@stemma/machine';
import type { JobRequest, JobResponse, WorkerData } from './job-messages.ts';
import { thisMachine } from './this-machine.ts';

/*
 * The thread that appends for one process. It waits for the lock between processes and for the disk, so that the
 * process's own thread does neither; what is asked of it meanwhile comes as one group.
 */
const port = parentPort;
if (!port) throw new Error('this runs in a thread');
const { options, gate } = workerData as WorkerData;
const jobs = openAppendJobs(thisMachine, options);
port.on('message', ({ id, job }: JobRequest) => {
  // The process is ending: nobody waits for the answer.
  if (!enterGate(gate)) return;
  const answer = jobs.answer(job);
  const moved = answer.kind === 'appended' ? [answer.offsets.buffer, answer.nexts.buffer] : [];
  const reply = (): void => {
    leaveGate(gate);
    port.postMessage({ id, answer } satisfies JobResponse, moved as ArrayBuffer[]);
  };
  if (job.kind !== 'close') reply();
  // The process ends this thread when it has the answer; ending a thread while LMDB closes kills the process.
  else void jobs.closeLock().then(reply);
});
