import { expect, test } from 'vitest';
import { catchUpForAll } from '../src/catch-up-for-all.ts';

test('who asks before a catch-up has begun shares it, who asks while it runs has the next one', async () => {
  const begun: (() => void)[] = [];
  let log = 0;
  const seen: number[] = [];
  const catchUp = catchUpForAll(async () => {
    seen.push(log);
    await new Promise<void>((resolve) => begun.push(resolve));
  });
  const first = [catchUp(), catchUp()];
  await Promise.resolve();
  expect(seen).toEqual([0]);
  log = 1;
  const later = [catchUp(), catchUp(), catchUp()];
  expect(seen).toEqual([0]);
  begun[0]?.();
  await Promise.all(first);
  await expect.poll(() => seen).toEqual([0, 1]);
  begun[1]?.();
  await Promise.all(later);
  expect(seen).toEqual([0, 1]);
});

test('partitions do not wait for each other, and one that failed is tried again', async () => {
  let fails = true;
  const caughtUp: (number | undefined)[] = [];
  const catchUp = catchUpForAll(async (partition) => {
    if (fails) throw new Error('away');
    caughtUp.push(partition);
  });
  await expect(Promise.all([catchUp(1), catchUp(2)])).rejects.toThrow('away');
  fails = false;
  await Promise.all([catchUp(1), catchUp(2), catchUp(2)]);
  expect(caughtUp).toEqual([1, 2]);
});
