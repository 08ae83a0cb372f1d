import { endProcess } from '@stemma/machine';
import { open } from 'lmdb';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { enterGate, guardExit, leaveGate, newExitGate, type ExitGate } from '@stemma/machine';

/*
 * `ending.ts DIRECTORY HOW`: ends while another thread is inside of a transaction of LMDB. HOW: `leaves`, the thread comes out after
 * a while; `stuck`, it does not; `now`, it does not, and nobody waits for it.
 */
type Given = {
  readonly directory: string;
  readonly gate: ExitGate;
  readonly inside: SharedArrayBuffer;
  readonly how: string;
};

if (isMainThread) {
  const [, , directory = '', how = ''] = process.argv;
  const gate = newExitGate();
  guardExit(gate, how === 'stuck' ? 200 : 60_000);
  const inside = new SharedArrayBuffer(4);
  new Worker(new URL(import.meta.url), { workerData: { directory, gate, inside, how } satisfies Given });
  const poll = setInterval(() => {
    if (Atomics.load(new Int32Array(inside), 0) === 0) return;
    clearInterval(poll);
    process.stdout.write('inside\n');
    if (how === 'now') endProcess(70);
    process.exit(7);
  }, 5);
} else {
  const { directory, gate, inside, how } = workerData as Given;
  const database = open<string, string>({ path: join(directory, 'one.mdb'), noSync: true });
  enterGate(gate);
  database.transactionSync(() => {
    const state = new Int32Array(inside);
    Atomics.store(state, 0, 1);
    // Nobody wakes it: the first one comes back by itself.
    Atomics.wait(state, 0, 1, how === 'leaves' ? 300 : Infinity);
    if (how === 'leaves') writeFileSync(join(directory, 'left'), '');
  });
  leaveGate(gate);
}
