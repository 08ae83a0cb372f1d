import { readSync, writeSync } from 'node:fs';
import { thisDisk } from '../../src/disk.ts';
import { openHolderFile, thisProcess } from '../../src/holder.ts';
import { enterLock } from '../../src/lock-environment.ts';

/* A process that takes the lock and never gives it back, or when its standard input ends; it then says when that was. */
const [directory = '', until] = process.argv.slice(2);
enterLock(directory, () => undefined).gate.pass(() => {
  openHolderFile(thisDisk, directory).write(thisProcess());
  writeSync(1, 'held\n');
  if (until === undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  readSync(0, Buffer.alloc(1));
  writeSync(1, `${process.hrtime.bigint()}\n`);
  openHolderFile(thisDisk, directory).write(null);
});
