import { setTimeout as sleep } from 'node:timers/promises';
import { openKafkaLog } from '../../src/index.ts';

/*
 * Opens a log, waits for what does not come, and says how much of the processor that took. Arguments: brokers, prefix,
 * and the share at which it need not look any longer.
 */
const [brokers = '', prefix = '', enough = '0'] = process.argv.slice(2);
const log = await openKafkaLog({ brokers: brokers.split(','), prefix, create: false });
const stop = new AbortController();
const waiting = log.wait(0, await log.end(0), stop.signal);
// What a start leaves behind, such as compiling, is over at some time; the least of several seconds is what waiting takes.
let least = Infinity;
for (let second = 0; second < 20 && least > Number(enough); second++) {
  const before = process.cpuUsage();
  const started = performance.now();
  await sleep(1000);
  const { user, system } = process.cpuUsage(before);
  least = Math.min(least, (user + system) / 1000 / (performance.now() - started));
}
process.stdout.write(String(least));
stop.abort();
await waiting;
await log.close();
