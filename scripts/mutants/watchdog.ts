import { Worker } from 'node:worker_threads';

/**
 * Ends this process when what it does takes longer than it may: a thread of its own, for a mutant may keep the main one
 * busy without end.
 */
export const startWatchdog = (): { readonly allow: (milliseconds: number) => void } => {
  const shared = new Float64Array(new SharedArrayBuffer(8));
  shared[0] = Infinity;
  const source = `
    const { workerData } = require('node:worker_threads');
    setInterval(() => { if (Date.now() > workerData[0]) process.kill(process.pid, 'SIGKILL'); }, 200);
  `;
  new Worker(source, { eval: true, workerData: shared }).unref();
  return {
    allow: (milliseconds) => {
      shared[0] = Date.now() + milliseconds;
    },
  };
};
