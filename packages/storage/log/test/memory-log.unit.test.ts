import { expect, test } from 'vitest';
import { bytesOf } from '../src/contract/kit.ts';
import { describeEventLog } from '../src/contract/describe-event-log.ts';
import { openMemoryLog } from '../src/index.ts';

describeEventLog('the memory log', {
  create: (partitions) => openMemoryLog({ partitions }),
  destroy: async () => undefined,
});

test.each<[string, (log: Awaited<ReturnType<typeof openMemoryLog>>) => Promise<unknown>]>([
  ['a record comes', (log) => log.append(0, [{ key: 'k', bytes: bytesOf(1) }])],
  ['the log is closed', (log) => log.close()],
])('a wait on a log in memory lasts until %s', async (_what, end) => {
  const log = await openMemoryLog();
  let over = false;
  const waiting = log.wait(0, await log.end(0), new AbortController().signal).then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  await end(log);
  await waiting;
});
