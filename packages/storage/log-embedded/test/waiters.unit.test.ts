import { expect, test } from 'vitest';
import { openWaiters } from '../src/waiters.ts';

const setUp = () => {
  const ends = [10, 10];
  const seen = { looks: 0, timers: 0, tick: (): void => undefined };
  const waiters = openWaiters(
    (fn) => {
      seen.timers++;
      seen.tick = fn;
      return () => seen.timers--;
    },
    (partition) => {
      seen.looks++;
      const end = ends[partition];
      if (end === undefined) throw new Error('no such partition');
      return end;
    },
  );
  return { ends, seen, waiters };
};
const never = new AbortController().signal;

test('200 who wait cost one timer, and one look a partition at each tick', async () => {
  const { ends, seen, waiters } = setUp();
  const all = Array.from({ length: 200 }, (_, i) => waiters.wait(i % 2, 10, never));
  expect(seen.timers).toBe(1);
  seen.looks = 0;
  seen.tick();
  expect(seen.looks).toBe(2);
  ends.fill(11);
  seen.tick();
  await Promise.all(all);
  expect(seen.timers).toBe(0);
});

test('who waits is woken by more than it has read, and nobody else is', async () => {
  const { ends, waiters } = setUp();
  const woken: string[] = [];
  const wait = (name: string, partition: number, from: number, signal = never): Promise<void> =>
    waiters.wait(partition, from, signal).then(() => void woken.push(name));
  const gone = new AbortController();
  const all = [wait('behind', 0, 9), wait('at the end', 0, 10), wait('ahead', 0, 20), wait('other', 1, 10)];
  all.push(wait('aborted', 1, 10, gone.signal));
  gone.abort();
  ends[0] = 15;
  waiters.look();
  await Promise.all([all[0], all[1], all[4]]);
  expect(new Set(woken)).toEqual(new Set(['aborted', 'at the end', 'behind']));
  waiters.wakeAll();
  await Promise.all(all);
  expect(woken).toHaveLength(5);
});

test('an end that cannot be read is reported to who asks for it, and wakes who waits', async () => {
  const { ends, seen, waiters } = setUp();
  await expect(waiters.wait(2, 0, never)).rejects.toThrow('no such partition');
  const waiting = waiters.wait(1, 10, never);
  ends.pop();
  seen.tick();
  await waiting;
});
