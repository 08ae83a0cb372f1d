/** The thread that looks at the files of a workspace, so that no call waits for it. The workspace is its `workerData`. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openSnapshots } from './take-snapshots.ts';
import type { FromWorkspace, ToWorkspace, Workspace } from './types.ts';

/** How much others go first once the program runs; the git that it starts has the same. */
const NICE = 10;

const { take, taken } = openSnapshots(workerData as Workspace);
const tell = (message: FromWorkspace): void => parentPort?.postMessage(message);
let isFirst = true;

parentPort?.on('message', ({ kind }: ToWorkspace) => {
  if (kind === 'end') {
    tell({ kind: 'ended', taken: taken() });
    parentPort?.close();
    return;
  }
  const { files, ...snapshot } = take();
  tell({ kind: 'taken', snapshot, files: files.length });
  // Only Linux has priorities of threads: elsewhere it would be that of the whole process.
  if (isFirst && process.platform === 'linux') setPriority(0, NICE);
  isFirst = false;
});
