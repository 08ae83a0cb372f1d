import { writeSync } from 'node:fs';
import { openEnvironment } from '../../src/environment.ts';
import { openHolderFile, thisProcess } from '../../src/holder.ts';

/* A process that takes the lock and never gives it back. */
const [directory = ''] = process.argv.slice(2);
openEnvironment(directory).locked(() => {
  openHolderFile(directory).write(thisProcess());
  writeSync(1, 'held\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
