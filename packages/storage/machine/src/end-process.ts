import { isMainThread } from 'node:worker_threads';

/**
 * Ends the process with a code, and nothing of it runs any more: no exit handler, and none of the native cleanup that
 * `process.exit` waits for, which can wait for ever (LMDB's, for a lock that another thread of the process holds). The program is
 * replaced by one that only ends; the system then takes its locks and threads. Where that cannot be done (in a worker, or on
 * Windows), it is `process.exit`.
 */
export const endProcess = (code: number): never => {
  if (isMainThread && process.platform !== 'win32')
    try {
      process.execve?.('/bin/sh', ['sh', '-c', `exit ${code & 0xff}`], {});
    } catch {
      // Without a shell there is the other way.
    }
  process.exit(code);
};
