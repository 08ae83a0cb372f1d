import { expect, it } from 'vitest';
import type { Client } from '../src/client.ts';
import { openReader } from '../src/reader.ts';
import { batchOf } from './batches.ts';

/** A client of a partition that holds these batches, and says that it ends where it is told to. */
const fakeClient = (
  batches: readonly Buffer[],
): Client & { ends: number[]; fetched: number[]; renew: () => void } => {
  let epoch = 0;
  const fake = {
    ends: [] as number[],
    fetched: [] as number[],
    renew: () => {
      epoch++;
    },
    epoch: () => epoch,
    offset: async (_partition: number, of: 'start' | 'end') =>
      of === 'start' ? 0 : (fake.ends.shift() ?? batches.length),
    fetch: async ([asked]: Parameters<Client['fetch']>[0]) => {
      const { from = 0, partition = 0 } = asked ?? {};
      const end = fake.ends.shift() ?? batches.length;
      fake.fetched.push(from);
      if (from > end) return new Map([[partition, { error: 1, end: -1, batches: Buffer.alloc(0) }]]);
      return new Map([[partition, { error: 0, end, batches: Buffer.concat(batches.slice(from, end)) }]]);
    },
    produce: () => Promise.reject(new Error('not here')),
    leaders: async () => [[0]],
    close: async () => undefined,
  };
  return fake;
};

const three = ['a', 'b', 'c'].map((value, offset) => batchOf(offset, [{ key: 'h', value }]));

it('an end that lies before what was given already is waited out: taken for the end, histories would begin anew [record §5: lost end]', async () => {
  const client = fakeClient(three);
  const reader = openReader(client, 0);
  expect((await reader.read(0, 1e6)).records).toHaveLength(3);
  // The broker was away, and came back with an older high watermark.
  client.renew();
  client.ends = [0, 0];
  expect((await reader.read(0, 1e6)).records).toHaveLength(3);
  client.renew();
  client.ends = [2, 2];
  expect(await reader.end()).toBe(3);
});

it('what was read a moment ago is given again without asking, until a connection was made anew [record §5: cursor]', async () => {
  const client = fakeClient(three);
  const reader = openReader(client, 0);
  await reader.read(0, 1e6);
  expect((await reader.read(1, 1)).records.map(({ offset }) => offset)).toEqual([1]);
  expect(client.fetched).toEqual([0]);
  client.renew();
  await reader.read(1, 1);
  expect(client.fetched).toEqual([0, 1]);
});

it('an offset that the partition does not have is refused with a code [record §5: cursor]', async () => {
  const reader = openReader(fakeClient(three), 0);
  await expect(reader.read(4, 1)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
  await expect(reader.read(-1, 1)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
});

it('control records are gaps: at the end nothing lies behind the last record [record §5: cursor]', async () => {
  const control = batchOf(3, [{ key: 'k', value: 'v' }], { control: true });
  const reader = openReader(fakeClient([...three, control]), 0);
  expect((await reader.read(0, 1e6)).next).toBe(3);
  expect(await reader.read(3, 1e6)).toEqual({ records: [], next: 3 });
  expect(await reader.end()).toBe(3);
});
