import { expect, it } from 'vitest';
import { gather, type LastBatch } from '../src/followed.ts';

/** How long one that follows pauses after a batch, when the next records come `after` milliseconds later. */
const pauses = async (last: LastBatch, after: number): Promise<readonly number[]> => {
  let now = 0;
  const paused: number[] = [];
  const wait = async () => void (now += after);
  await gather(
    last,
    wait,
    () => now,
    async (ms) => void paused.push(ms),
  );
  return paused;
};

it('records that come one at a time are folded at once, however soon and however long a batch takes', async () => {
  for (const took of [1, 10, 100]) expect(await pauses({ records: 1, took }, 0)).toEqual([]);
});

it('while records queue, more of them are waited for, as long as the last batch took and at most 20 ms', async () => {
  expect(await pauses({ records: 2, took: 8 }, 7)).toEqual([8]);
  expect(await pauses({ records: 500, took: 300 }, 0)).toEqual([20]);
});

it('when the next records come later than the last batch took, nothing more is waited for', async () => {
  expect(await pauses({ records: 500, took: 8 }, 8)).toEqual([]);
});
