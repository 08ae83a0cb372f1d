import { writeSync } from 'node:fs';
import { openEmbeddedLog } from '../../src/index.ts';

/* A process that opens a log, says so before, and when it was open. */
const [directory = ''] = process.argv.slice(2);
writeSync(1, 'opening\n');
const log = await openEmbeddedLog({ directory, busyAfter: 60_000 });
writeSync(1, `${process.hrtime.bigint()}\n`);
await log.close();
