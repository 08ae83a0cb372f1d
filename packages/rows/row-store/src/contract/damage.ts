import { expect, it } from 'vitest';
import type { Generation, RowStore } from '../store.ts';
import {
  codeOf,
  cursor,
  put,
  HASHES,
  TABLES,
  thing,
  THINGS,
  type Damage,
  type RowStoreUnderTest,
} from './fixtures.ts';

const ROW = ['h', 1, 'a', 1] as const;

/** Ways to read the row; after it was moved, the place where it lies now. */
const readings = (rows: Generation, from: number): Record<string, () => Promise<unknown>> => {
  const key = ['h', 1, 'a', from] as const;
  const source = rows.source();
  return {
    'one row': () => rows.read((view) => view.get(THINGS, key)),
    'a list': () => rows.read((view) => view.range(THINGS, { prefix: ['h'] })),
    'a page': () => rows.read((view) => view.range(THINGS, { prefix: ['h', 1, 'a'], from, limit: 1 })),
    'a page backwards': () =>
      rows.read((view) => view.range(THINGS, { prefix: ['h', 1, 'a'], to: from, reverse: true, limit: 1 })),
    'a scan': () =>
      rows.scan(async (scan) => {
        for await (const _row of scan.entries(THINGS));
      }),
    'one row of a scan': () => rows.scan((scan) => scan.get(THINGS, key)),
    'a source': () => source.using(() => source.get(THINGS, key)),
  };
};

/** Runs a test on one generation that two stores have open, where an adapter lets another one in. */
const withTwo = async (
  make: () => RowStoreUnderTest,
  test: (rows: Generation, other: Generation, stores: readonly RowStore[]) => Promise<void>,
): Promise<void> => {
  const under = make();
  const stores = [await under.open()];
  try {
    if (under.another === undefined) return;
    stores.push(await under.another());
    const [rows, other] = (await Promise.all(stores.map((store) => store.generation('g', TABLES)))) as [
      Generation,
      Generation,
    ];
    await test(rows, other, stores);
  } finally {
    for (const store of stores) await store.close();
    await under.cleanUp();
  }
};

/** Rows that something else than the store has changed. */
export const describeDamage = (make: () => RowStoreUnderTest): void => {
  const damages: readonly (readonly [Damage, string])[] = [
    ['bit', 'a bit of it is changed'],
    ['moved', 'it lies under another key'],
    ['truncated', 'its end is cut off'],
  ];
  for (const [damage, what] of damages)
    it(
      `returns no row after ${what}, however it is read, and names the table`,
      { tags: ['decision-0051'] },
      async () => {
        const under = make();
        const store = await under.open();
        try {
          const rows = await store.generation('g', TABLES);
          const changes = [thing(...ROW), thing('h', 2, 'b', 1), put(HASHES, ['h', Uint8Array.of(1)], 3)];
          await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
          await under.damage(damage);
          const reader = await store.generation('g', TABLES);
          for (const [how, read] of Object.entries(readings(reader, damage === 'moved' ? 9 : 1)))
            await expect(read(), how).rejects.toMatchObject({
              code: 'E_ROWS_DAMAGED',
              detail: { table: 'things', generation: 'g' },
            });
          expect(await reader.read((view) => view.get(HASHES, ['h', Uint8Array.of(1)]))).toEqual([3]);
        } finally {
          await store.close();
          await under.cleanUp();
        }
      },
    );

  it('keeps the rows of owners apart after a commit that failed half-way', () =>
    withTwo(make, async (rows, other, stores) => {
      await rows.commit({
        partition: 0,
        expected: null,
        cursor: cursor(1),
        changes: [thing('a', 1, 'a', 1)],
      });
      const changes = [thing('h', 1, 'a', 1), thing('h', 1, 'x'.repeat(2_000), 1)];
      expect(
        await codeOf(
          Promise.resolve().then(() =>
            rows.commit({ partition: 0, expected: cursor(1), cursor: cursor(2), changes }),
          ),
        ),
      ).toBe('E_KEY_TOO_LONG');
      await other.commit({
        partition: 0,
        expected: cursor(1),
        cursor: cursor(2),
        changes: [thing('i', 1, 'a', 1)],
      });
      await rows.commit({
        partition: 0,
        expected: cursor(2),
        cursor: cursor(3),
        changes: [thing('h', 1, 'b', 1)],
      });
      const reader = await (stores[1] ?? stores[0])?.generation('g', TABLES);
      const texts = await reader?.read((view) =>
        ['h', 'i'].map((owner) => view.range(THINGS, { prefix: [owner] }).map(({ value }) => value[0])),
      );
      expect(texts).toEqual([['h/1/b/1'], ['i/1/a/1']]);
    }));

  it('scans the newest rows that others committed before the scan', () =>
    withTwo(make, async (rows, other) => {
      for (let n = 1; n <= 3; n++) {
        await other.commit({
          partition: 0,
          expected: n === 1 ? null : cursor(n - 1),
          cursor: cursor(n),
          changes: [thing('h', 1, 'a', n)],
        });
        const seen = await rows.scan(async (scan) => {
          let count = 0;
          for await (const _row of scan.entries(THINGS)) count++;
          return [await scan.cursor(0), count];
        });
        expect(seen).toEqual([cursor(n), n]);
      }
    }));
};
