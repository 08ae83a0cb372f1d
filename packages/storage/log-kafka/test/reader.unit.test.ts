import { expect, it } from 'vitest';
import type { KafkaClient } from '../src/protocol/client.ts';
import { openReader } from '../src/reader.ts';
import { batchOf } from './batches.ts';

/** A client of a partition that holds these batches, and says that it ends where it is told to. */
const fakeClient = (
  batches: readonly Buffer[],
): Pick<KafkaClient, 'epoch' | 'offset' | 'fetch'> & {
  ends: number[];
  fetched: number[];
  during: () => void;
  renew: () => void;
} => {
  let epoch = 0;
  const fake = {
    ends: [] as number[],
    fetched: [] as number[],
    during: (): void => undefined,
    renew: () => {
      epoch++;
    },
    epoch: () => epoch,
    offset: async (_partition: number, of: 'start' | 'end') =>
      of === 'start' ? 0 : (fake.ends.shift() ?? batches.length),
    fetch: async ({ from }: Parameters<KafkaClient['fetch']>[0]) => {
      const end = fake.ends.shift() ?? batches.length;
      fake.fetched.push(from);
      fake.during();
      if (from > end) return { error: 1, end: -1, start: -1, batches: Buffer.alloc(0) };
      return { error: 0, end, start: 0, batches: Buffer.concat(batches.slice(from, end)) };
    },
  };
  return fake;
};

const three = ['a', 'b', 'c'].map((value, offset) => batchOf(offset, [{ key: 'h', value }]));

it(
  'an end before records that were returned already is no end: the reader asks again',
  { tags: ['record§5:lost-end'] },
  async () => {
    const client = fakeClient(three);
    const reader = openReader(client, 0, () => undefined);
    expect((await reader.read(0, 1e6)).records).toHaveLength(3);
    // The broker was away, and came back with an older high watermark.
    client.renew();
    client.ends = [0, 0];
    expect((await reader.read(0, 1e6)).records).toHaveLength(3);
    client.renew();
    client.ends = [2, 2];
    expect(await reader.end()).toBe(3);
  },
);

it(
  'records that were read a moment ago come from memory, until a connection is renewed',
  { tags: ['record§5:cursor'] },
  async () => {
    const client = fakeClient(three);
    const reader = openReader(client, 0, () => undefined);
    await reader.read(0, 1e6);
    expect((await reader.read(1, 1)).records.map(({ offset }) => offset)).toEqual([1]);
    expect(client.fetched).toEqual([0]);
    client.renew();
    await reader.read(1, 1);
    expect(client.fetched).toEqual([0, 1]);
  },
);

it(
  'who asks for what the partition holds now is not answered from memory',
  { tags: ['record§2:damaged'] },
  async () => {
    const client = fakeClient(three);
    const reader = openReader(client, 0, () => undefined);
    await reader.read(0, 1e6);
    expect((await reader.read(1, 1, { fresh: true })).records.map(({ offset }) => offset)).toEqual([1, 2]);
    expect(await reader.read(3, 1, { fresh: true })).toEqual({ records: [], next: 3 });
    expect(client.fetched).toEqual([0, 1, 3]);
    // Nor is it kept in place of what was read before.
    await reader.read(0, 1e6);
    expect(client.fetched).toEqual([0, 1, 3]);
  },
);

it(
  'an offset that the partition does not have is refused with a code',
  { tags: ['record§5:cursor'] },
  async () => {
    const reader = openReader(fakeClient(three), 0, () => undefined);
    await expect(reader.read(4, 1)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    await expect(reader.read(-1, 1)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
  },
);

it(
  'control records are gaps in the offsets, also at the end of a partition',
  { tags: ['record§5:cursor'] },
  async () => {
    const control = batchOf(3, [{ key: 'k', value: 'v' }], { control: true });
    const reader = openReader(fakeClient([...three, control]), 0, () => undefined);
    expect((await reader.read(0, 1e6)).next).toBe(3);
    expect(await reader.read(3, 1e6)).toEqual({ records: [], next: 3 });
    expect(await reader.end()).toBe(3);
  },
);

it(
  'a connection that is renewed during a read does not look like the end of the partition',
  { tags: ['record§5:cursor'] },
  async () => {
    const client = fakeClient(three);
    const reader = openReader(client, 0, () => undefined);
    let lost = 2;
    client.during = () => {
      if (lost-- > 0) client.renew();
    };
    expect((await reader.read(0, 1e6)).records).toHaveLength(3);
    expect(client.fetched).toEqual([0, 0, 0]);
  },
);
