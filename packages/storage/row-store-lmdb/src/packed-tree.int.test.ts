import { defineTable } from '@stemma/row-store';
import { openMemoryRowStore, type Cell, type RowChange } from '@stemma/row-store';
import fc from 'fast-check';
import { open } from 'lmdb';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openLmdbRowStore } from './lmdb-row-store.ts';

const TABLE = defineTable({
  name: 'packed',
  about: '',
  key: [
    ['history', 'text'],
    ['location', 'uint'],
    ['node', 'text'],
    ['from', 'uint'],
  ],
  value: [
    ['role', 'text'],
    ['time', 'wide'],
    ['refs', 'json'],
    ['hash', 'bytes'],
    ['expires', 'uint'],
  ],
  packed: true,
});
const RAW = { keyEncoding: 'binary', encoding: 'binary' } as const;

const directories: string[] = [];
const fresh = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-packed-'));
  directories.push(directory);
  return directory;
};
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** Keys mostly ascend, as those of a history do; some lie between, and some rows go. */
const change = fc.record({
  history: fc.constantFrom('h', 'i'),
  step: fc.constantFrom(1, 1, 1, 1, 1, -3, -50),
  nodes: fc.integer({ min: 1, max: 40 }),
  size: fc.constantFrom(0, 1, 200, 5_000),
  remove: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

it('packed rows are those of a store that packs nothing, over many values, in any batches', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 20 }), { maxLength: 6 }), async (batches) => {
      const stores = [openLmdbRowStore({ directory: fresh() }), openMemoryRowStore()];
      const [packed, plain] = await Promise.all(stores.map((store) => store.generation('g', [TABLE])));
      if (packed === undefined || plain === undefined) throw new Error('no stores');
      const newest = new Map<string, number>();
      let [seq, expected] = [0, null as Uint8Array | null];
      for (const batch of batches) {
        const changes: RowChange[] = [];
        for (const { history, step, nodes, size, remove } of batch) {
          const location = Math.max(0, (newest.get(history) ?? 60) + step);
          if (step > 0) newest.set(history, location);
          for (let n = 0; n < nodes; n++) {
            const from = remove ? seq - n : ++seq;
            const value: Cell[] = [
              'user',
              BigInt(seq) * 10n ** 12n,
              size === 1 ? [{ n }] : null,
              null,
              n % 3,
            ];
            if (size > 1 && n === 0) value[3] = new Uint8Array(size).fill(n);
            changes.push({
              table: TABLE,
              key: [history, location, `n${n}`, Math.max(0, from)],
              value: remove ? null : value,
            });
          }
        }
        const cursor = Uint8Array.of(...(expected ?? []), 1);
        for (const rows of [packed, plain]) await rows.commit({ partition: 0, expected, cursor, changes });
        expected = cursor;
        const [all, other] = await Promise.all(
          [packed, plain].map((rows) =>
            rows.read((view) =>
              ['h', 'i'].map((history) => {
                const last = newest.get(history) ?? 60;
                const found = view.range(TABLE, { prefix: [history] });
                return [
                  found,
                  found.map(({ key }) => view.get(TABLE, key)),
                  view.range(TABLE, { prefix: [history], from: last - 5, to: last - 2 }),
                  view.range(TABLE, { prefix: [history], to: last - 1, reverse: true, limit: 3 }),
                  view.range(TABLE, { prefix: [history, last], from: 'n1', limit: 50 }),
                  view.get(TABLE, [history, last, 'none', 3]),
                ];
              }),
            ),
          ),
        );
        expect(all).toEqual(other);
      }
      for (const store of stores) await store.close();
    }),
    { numRuns: 30 },
  );
});

it(
  'any changed bit of a packed value, and a value under another key, is refused',
  { tags: ['decision-0051'] },
  async () => {
    const directory = fresh();
    const store = openLmdbRowStore({ directory });
    const rows = await store.generation('g', [TABLE]);
    const changes = Array.from({ length: 12 }, (_, n) => ({
      table: TABLE,
      key: ['h', 1, `n${n}`, n],
      value: ['user'],
    }));
    await rows.commit({ partition: 0, expected: null, cursor: Uint8Array.of(1), changes });
    await store.close();
    const root = open({
      path: join(directory, '1', 'rows.mdb'),
      noSync: true,
      maxReaders: 512,
      maxDbs: 128,
      ...RAW,
    });
    const tree = root.openDB<Buffer, Buffer>({ name: 'rows packed', ...RAW });
    const [stored] = [...tree.getRange()].map(({ key, value }) => ({
      key: Buffer.from(key),
      value: Buffer.from(value),
    }));
    if (stored === undefined) throw new Error('nothing was written');
    const readings = [
      (again: typeof rows) => again.read((view) => view.get(TABLE, ['h', 1, 'n3', 3])),
      (again: typeof rows) => again.read((view) => view.range(TABLE, { prefix: ['h'] })),
      (again: typeof rows) =>
        again.read((view) => view.range(TABLE, { prefix: ['h'], reverse: true, limit: 1 })),
      (again: typeof rows) =>
        again.scan(async (scan) => {
          for await (const _row of scan.entries(TABLE));
        }),
      (again: typeof rows) =>
        again.commit({
          partition: 0,
          expected: Uint8Array.of(1),
          cursor: Uint8Array.of(2),
          changes: [{ table: TABLE, key: ['h', 1, 'n5', 6], value: ['assistant'] }],
        }),
    ];
    const refuseAll = async (): Promise<void> => {
      const opened = openLmdbRowStore({ directory });
      const again = await opened.generation('g', [TABLE]);
      for (const read of readings)
        await expect(read(again)).rejects.toMatchObject({ code: 'E_ROWS_DAMAGED' });
      await opened.close();
    };
    for (let at = 0; at < stored.value.length; at += 7) {
      const changed = Buffer.from(stored.value);
      changed[at]! ^= 1 << (at & 7);
      tree.putSync(stored.key, changed);
      await refuseAll();
    }
    tree.putSync(stored.key, stored.value.subarray(0, -1));
    await refuseAll();
    const moved = Buffer.from(stored.key);
    moved[moved.length - 1] = 1;
    tree.removeSync(stored.key);
    tree.putSync(moved, stored.value);
    // No value is where the first rows were: what is asked for of them is not there, and what lies beside it is refused.
    const opened = openLmdbRowStore({ directory });
    const again = await opened.generation('g', [TABLE]);
    for (const read of readings) await expect(read(again)).rejects.toMatchObject({ code: 'E_ROWS_DAMAGED' });
    await opened.close();
    await root.close();
  },
);

it('a value of short rows takes one page, however long it becomes', async () => {
  const directory = fresh();
  const store = openLmdbRowStore({ directory });
  const rows = await store.generation('g', [TABLE]);
  let expected: Uint8Array | null = null;
  for (let from = 0; from < 300; from++) {
    const cursor = Uint8Array.of(from & 0xff, from >> 8);
    const changes = [1, 2, 3].map((location) => ({
      table: TABLE,
      key: [`h${location}`, location, 'node'.repeat(location), from],
      value: ['user', 0n, null, new Uint8Array(20 * location).fill(from), null],
    }));
    await rows.commit({ partition: 0, expected, cursor, changes });
    expected = cursor;
  }
  await store.close();
  const root = open({ path: join(directory, '1', 'rows.mdb'), readOnly: true, ...RAW });
  const stats = root.openDB({ name: 'rows packed', ...RAW }).getStats() as {
    readonly entryCount: number;
    readonly overflowPages: number;
  };
  expect(stats.entryCount).toBeGreaterThan(10);
  expect(stats.overflowPages).toBeLessThanOrEqual(stats.entryCount);
  await root.close();
});
