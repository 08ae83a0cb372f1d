import { setTimeout as sleep } from 'node:timers/promises';
import { openKafkaLog } from '../../src/index.ts';

/* Opens a log, waits for what does not come, and says how much of the processor that took. Arguments: brokers, prefix. */
const [brokers = '', prefix = ''] = process.argv.slice(2);
const log = await openKafkaLog({ brokers: brokers.split(','), prefix, create: false });
const stop = new AbortController();
const waiting = log.wait(0, await log.end(0), stop.signal);
await sleep(500);
const before = process.cpuUsage();
const started = performance.now();
await sleep(3000);
const { user, system } = process.cpuUsage(before);
process.stdout.write(String((user + system) / 1000 / (performance.now() - started)));
stop.abort();
await waiting;
await log.close();
