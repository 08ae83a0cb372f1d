import { expect, test } from 'vitest';
import { sharedFor } from '../src/shared-for.ts';

test('callers during a run, or shortly after it, get its result; later, and after a failure, it runs again', async () => {
  let [runs, now] = [0, 0];
  const ask = sharedFor(
    100,
    async () => {
      runs++;
      if (runs === 2) throw new Error('no');
      return runs;
    },
    () => now,
  );
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
  now = 99;
  expect(await ask()).toBe(1);
  now = 100;
  await expect(ask()).rejects.toThrow('no');
  expect(await ask()).toBe(3);
});
