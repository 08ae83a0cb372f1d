import { fail } from '@stemma/errors';
import { expect, it } from 'vitest';
import type { Projection } from '../projection.ts';
import { openCommittedRows } from './committed-rows.ts';

/** Rows that a disk refuses as long as it is full. */
const rowsOn = (disk: { full: boolean; attempts: number; committed: boolean }): Projection =>
  ({
    catchUp: async () => {
      disk.attempts++;
      if (disk.full) throw fail('E_ROWS_UNWRITABLE', 'the rows cannot be written: ENOSPC');
    },
    checkpoint: async () => (disk.committed ? {} : undefined),
  }) as unknown as Projection;

it('while the rows cannot be written, readers get the committed rows, attempts are a second apart, and the home reports when writing works again', async () => {
  const disk = { full: true, attempts: 0, committed: true };
  const said: string[] = [];
  let time = 0;
  const rows = openCommittedRows(
    rowsOn(disk),
    1,
    (sentence) => said.push(sentence),
    () => time,
  );
  for (let i = 0; i < 3; i++) await rows.projection.catchUp();
  await expect(rows.check()).rejects.toMatchObject({ code: 'E_ROWS_UNWRITABLE', row: { status: 503 } });
  expect(disk.attempts).toBe(1);
  expect(said).toEqual(['the rows cannot be written: ENOSPC: answers show what the rows had before']);
  disk.full = false;
  time += 1_000;
  await rows.check();
  expect(said[1]).toBe('the rows are written again');
  await rows.projection.catchUp();
  expect(disk.attempts).toBe(3);
});

it('while the rows cannot be written and none was ever committed, reads are refused', async () => {
  const disk = { full: true, attempts: 0, committed: false };
  const rows = openCommittedRows(rowsOn(disk), 1, () => undefined);
  await expect(rows.projection.catchUp()).rejects.toMatchObject({ code: 'E_ROWS_UNWRITABLE' });
});

it('any other error of the projection is thrown unchanged', async () => {
  const broken = {
    catchUp: async () => Promise.reject(fail('E_CURSOR_LOST', 'gone')),
  } as unknown as Projection;
  const rows = openCommittedRows(broken, 1, () => undefined);
  await expect(rows.projection.catchUp()).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
  await rows.check();
});
