import { expect, it } from 'vitest';
import { coalesced } from '../src/external/coalesced.ts';

/** Work that the test ends, one run after the other. */
const heldWork = () => {
  const runs: { readonly end: (value: number) => void; readonly fail: () => void }[] = [];
  const work = () =>
    new Promise<number>((resolve, reject) =>
      runs.push({ end: resolve, fail: () => reject(new Error('failed')) }),
    );
  return { runs, ask: coalesced(work) };
};

it('those who ask while work runs share the run after it, which began after they asked', async () => {
  const { runs, ask } = heldWork();
  const first = ask();
  const later = [ask(), ask(), ask()];
  expect(runs).toHaveLength(1);
  runs[0]?.end(1);
  expect(await first).toBe(1);
  await expect.poll(() => runs.length).toBe(2);
  const last = ask();
  runs[1]?.end(2);
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  await expect.poll(() => runs.length).toBe(3);
  runs[2]?.end(3);
  expect(await last).toBe(3);
});

it('a run that fails does so for those who share it only', async () => {
  const { runs, ask } = heldWork();
  const [first, second] = [ask(), ask()];
  runs[0]?.fail();
  await expect(first).rejects.toThrow('failed');
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.end(2);
  expect(await second).toBe(2);
});
