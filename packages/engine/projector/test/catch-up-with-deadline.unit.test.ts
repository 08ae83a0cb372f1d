import type { EventLog } from '@stemma/log';
import { expect, it } from 'vitest';
import { withCatchUpDeadline, type Projection } from '../src/index.ts';

/** A log of ten offsets and rows that reach its end when told so. */
const slowRows = () => {
  const built = Promise.withResolvers<undefined>();
  let [offset, folds] = [3, 0];
  const log = { partitions: 1, end: async () => 10 } as unknown as EventLog;
  const rows = {
    catchUp: async () => {
      folds++;
      await built.promise;
      offset = 10;
    },
    checkpoint: async () => ({ cursor: { offset } }),
  } as unknown as Projection;
  return { log, rows, build: () => built.resolve(undefined), folds: () => folds };
};

it('while rows are built, readers are told how far they are with E_ROWS_BEHIND, and one build goes on for all', async () => {
  const { log, rows, build, folds } = slowRows();
  const { projection, checkReady, idle } = withCatchUpDeadline(log, rows, 5);
  const behind = { code: 'E_ROWS_BEHIND', message: expect.stringContaining('0@3 of 10') as string };
  await expect(projection.catchUp()).rejects.toMatchObject(behind);
  await expect(projection.catchUp(0)).rejects.toMatchObject(behind);
  await expect(checkReady()).rejects.toMatchObject(behind);
  expect(folds()).toBe(1);

  build();
  await idle();
  await expect(projection.catchUp()).resolves.toBeUndefined();
  await expect(checkReady()).resolves.toBeUndefined();
});
