import { afterEach, describe, expect, it } from 'vitest';
import {
  codeOf,
  countOf,
  cursor,
  HASHES,
  OWNERS,
  PACKED,
  padded,
  put,
  TABLES,
  thing,
  THINGS,
  type RowStoreUnderTest,
} from './contract/fixtures.ts';
import { describeDamage } from './contract/damage.ts';
import { describeSortedMap } from './contract/sorted-map.ts';
import type { Generation, RowStore } from './store.ts';
import type { Row, Table } from './table.ts';

export { damaged, type Damage, type RowStoreUnderTest } from './contract/fixtures.ts';

/** The contract tests of a row store. An adapter's test file calls this. */
export const describeRowStore = (name: string, make: () => RowStoreUnderTest, { runs = 40 } = {}): void => {
  describe(`the row store ${name}`, () => {
    const opened: { under: RowStoreUnderTest; stores: RowStore[] }[] = [];
    const open = async (): Promise<{
      store: RowStore;
      rows: Generation;
      under: RowStoreUnderTest;
      stores: RowStore[];
    }> => {
      const under = make();
      const store = await under.open();
      const entry = { under, stores: [store] };
      opened.push(entry);
      return { store, rows: await store.generation('g', TABLES), ...entry };
    };
    afterEach(async () => {
      for (const { under, stores } of opened.splice(0)) {
        for (const store of stores) await store.close();
        await under.cleanUp();
      }
    });

    it('reads rows as they were written, every type of cell exactly, missing cells as null', async () => {
      const { rows } = await open();
      const value = [
        'ü\u0000😀',
        2 ** 53 - 1,
        2n ** 63n,
        Uint8Array.of(0, 255),
        false,
        { b: [1, null, 1.5, { '': 'x' }], a: 2n ** 60n },
      ];
      const other = ['', 0, 7n];
      await rows.commit({
        partition: 0,
        expected: null,
        cursor: cursor(1),
        changes: [
          put(THINGS, ['h', 0, 'a', 1], ...value),
          put(THINGS, ['h', 0, 'a', 2], ...other),
          put(HASHES, ['h', Uint8Array.of(0, 1)], 3),
          put(HASHES, ['h', Uint8Array.of(255, 0, 1)], 4),
        ],
      });
      expect(await rows.read((view) => view.get(THINGS, ['h', 0, 'a', 1]))).toEqual(value);
      expect(await rows.read((view) => view.get(THINGS, ['h', 0, 'a', 2]))).toEqual(padded(THINGS, other));
      expect(await rows.read((view) => view.get(HASHES, ['h', Uint8Array.of(0, 1)]))).toEqual([3]);
      expect(await rows.read((view) => view.range(HASHES, { prefix: ['h'] }))).toEqual([
        { key: ['h', Uint8Array.of(0, 1)], value: [3] },
        { key: ['h', Uint8Array.of(255, 0, 1)], value: [4] },
      ]);
      expect(await rows.read((view) => view.get(THINGS, ['h', 0, 'a', 3]))).toBeUndefined();
      expect(await rows.read((view) => view.get(THINGS, ['unknown', 0, 'a', 1]))).toBeUndefined();
    });

    it('throws all rows away for all who have them open', async () => {
      const { store, rows, under, stores } = await open();
      const other = under.another === undefined ? undefined : await under.another();
      if (other !== undefined) stores.push(other);
      await rows.commit({
        partition: 0,
        expected: null,
        cursor: cursor(1),
        changes: [thing('h', 1, 'a', 1)],
      });
      await store.promote({ group: 'all', from: null, to: 'g', unmoved: [] });
      await store.destroy?.();
      for (const each of other === undefined ? [store] : [store, other]) {
        expect(await each.generations()).toEqual([]);
        expect(await each.current('all')).toBeNull();
        const again = await each.generation('g', TABLES);
        expect(await again.read((view) => view.get(THINGS, ['h', 1, 'a', 1]))).toBeUndefined();
      }
    });

    it('counts the rows of an owner in each table', async () => {
      const { rows } = await open();
      expect(await rows.read((view) => view.count(THINGS, 'h'))).toBe(0);
      const things = (table: Table) =>
        ['h', 'h\u0000', 'i'].flatMap((history, i) =>
          Array.from({ length: 40 * i + 3 }, (_, from) => put(table, [history, 0, 'a', from], 'x')),
        );
      const changes = [...things(THINGS), ...things(PACKED), put(OWNERS, ['h'], 'x')];
      await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
      const removed = [{ table: THINGS, key: ['h', 0, 'a', 1], value: null }];
      await rows.commit({ partition: 0, expected: cursor(1), cursor: cursor(2), changes: removed });
      const counts = await rows.read((view) =>
        [THINGS, PACKED].map((table) => ['h', 'h\u0000', 'i', 'j'].map((owner) => view.count(table, owner))),
      );
      expect(counts).toEqual([
        [2, 43, 83, 0],
        [3, 43, 83, 0],
      ]);
      expect(await rows.read((view) => ['h', 'i'].map((owner) => view.count(OWNERS, owner)))).toEqual([1, 0]);
    });

    it(
      'reads ranges in the order of the keys or in reverse, including both ends',
      { tags: ['snapshots:keys'] },
      async () => {
        const { rows } = await open();
        const keys: [string, number, string, number][] = [
          ['h', 1, 'a', 5],
          ['h', 1, 'a', 239],
          ['h', 1, 'a', 240],
          ['h', 1, 'a', 256],
          ['h', 1, 'a', 70_000],
          ['h', 1, 'a', 2 ** 40],
          ['h', 1, 'a\u0000', 1],
          ['h', 1, 'ab', 1],
          ['h', 1, 'ｆ', 1],
          ['h', 1, '😀', 1],
          ['h', 2, 'a', 1],
          ['h\u0000', 1, 'a', 1],
          ['i', 1, 'a', 1],
        ];
        const changes = [...keys].reverse().map((key) => thing(...key));
        await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
        const range = (prefix: Row['key'], more = {}): Promise<Row['key'][]> =>
          rows.read((view) => view.range<Table>(THINGS, { prefix, ...more }).map((row) => row.key));
        expect(await range(['h', 1])).toEqual(keys.slice(0, 10));
        expect(await range(['h'])).toEqual(keys.slice(0, 11));
        expect(await range(['h', 1], { reverse: true, limit: 3 })).toEqual(keys.slice(7, 10).reverse());
        expect(await range(['h', 1, 'a'], { from: 239, to: 256 })).toEqual(keys.slice(1, 4));
        expect(await range(['h', 1, 'a'], { to: 255, reverse: true, limit: 1 })).toEqual(keys.slice(2, 3));
        expect(await range(['h', 1], { from: 'a\u0000', to: 'ab' })).toEqual(keys.slice(6, 8));
        expect(await range(['h', 1], { from: 'b' })).toEqual(keys.slice(8, 10));
        expect(await range(['h', 1, 'a'])).toEqual(keys.slice(0, 6));
        expect(await range(['h', 1], { to: 'a' })).toEqual(keys.slice(0, 6));
        expect(await range(['h', 3])).toEqual([]);
        expect(await range(['nobody'])).toEqual([]);
        expect(await countOf(rows)).toBe(keys.length);
      },
    );

    it('lists the owners where the key is the owner alone', async () => {
      const { rows } = await open();
      const changes = ['c', 'a', 'b'].map((history) => put(OWNERS, [history], history.toUpperCase()));
      await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes });
      expect(await rows.read((view) => view.range(OWNERS, { prefix: [] }))).toEqual(
        ['a', 'b', 'c'].map((key) => ({ key: [key], value: [key.toUpperCase()] })),
      );
      expect(await rows.read((view) => view.range(OWNERS, { prefix: [], from: 'b', limit: 1 }))).toEqual([
        { key: ['b'], value: ['B'] },
      ]);
    });

    it(
      'commits a batch as a whole or not at all, after comparing the cursor',
      { tags: ['record§5:heads'] },
      async () => {
        const { rows } = await open();
        await rows.commit({
          partition: 3,
          expected: null,
          cursor: cursor(1),
          changes: [thing('h', 1, 'a', 1)],
        });
        for (const expected of [null, cursor(9)])
          expect(
            await codeOf(
              rows.commit({ partition: 3, expected, cursor: cursor(2), changes: [thing('h', 1, 'b', 1)] }),
            ),
          ).toBe('E_CURSOR_MOVED');
        expect(
          await rows.read((view) => [view.cursor(3), view.cursor(0), view.get(THINGS, ['h', 1, 'b', 1])]),
        ).toEqual([cursor(1), null, undefined]);
        await rows.commit({
          partition: 3,
          expected: cursor(1),
          cursor: cursor(2),
          changes: [
            { table: THINGS, key: ['h', 1, 'a', 1], value: null },
            thing('h', 1, 'b', 1),
            { table: THINGS, key: ['x', 1, 'a', 1], value: null },
          ],
        });
        expect(
          await rows.read((view) => [
            view.cursor(3),
            view.partitions(),
            view.range(THINGS, { prefix: ['h'] }).map(({ key }) => key),
          ]),
        ).toEqual([cursor(2), [3], [['h', 1, 'b', 1]]]);
      },
    );

    it('refuses a key that is too long, and then writes nothing', { tags: ['snapshots:keys'] }, async () => {
      const { rows } = await open();
      const changes = [thing('h', 1, 'a', 1), thing('h', 1, 'x'.repeat(2_000), 1)];
      expect(
        await codeOf(
          Promise.resolve().then(() =>
            rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes }),
          ),
        ),
      ).toBe('E_KEY_TOO_LONG');
      expect(await rows.read((view) => [view.cursor(0), view.get(THINGS, ['h', 1, 'a', 1])])).toEqual([
        null,
        undefined,
      ]);
    });

    it(
      'keeps several generations and changes the current one in one step',
      { tags: ['decision-0004'] },
      async () => {
        const { store, rows } = await open();
        const next = await store.generation('g2', [OWNERS]);
        await rows.commit({
          partition: 0,
          expected: null,
          cursor: cursor(1),
          changes: [put(OWNERS, ['a'], 'old')],
        });
        await next.commit({
          partition: 0,
          expected: null,
          cursor: cursor(5),
          changes: [put(OWNERS, ['a'], 'new')],
        });
        expect(
          await Promise.all([rows, next].map((each) => each.read((view) => view.get(OWNERS, ['a'])))),
        ).toEqual([['old'], ['new']]);
        expect(await store.current('all')).toBeNull();
        const ifCurrent = async (): Promise<unknown> => [
          await rows.readIfCurrent?.('all', (view) => view.get(OWNERS, ['a'])),
          await next.readIfCurrent?.('all', (view) => view.get(OWNERS, ['a'])),
        ];
        const canTell = rows.readIfCurrent !== undefined;
        expect(await ifCurrent()).toEqual([undefined, undefined]);
        await store.promote({ group: 'all', from: null, to: 'g', unmoved: [] });
        expect(await ifCurrent()).toEqual([canTell ? { value: ['old'] } : undefined, undefined]);
        const unmoved = [{ generation: 'g', partition: 0, cursor: cursor(1) }];
        expect(await codeOf(store.promote({ group: 'all', from: null, to: 'g2', unmoved }))).toBe(
          'E_CURSOR_MOVED',
        );
        // Another cursor, a partition that was never committed, and a generation that is not there.
        for (const other of [{ cursor: cursor(4) }, { partition: 1 }, { generation: 'g9' }]) {
          const promotion = { group: 'all', from: 'g', to: 'g2', unmoved: [{ ...unmoved[0]!, ...other }] };
          expect(await codeOf(store.promote(promotion))).toBe('E_CURSOR_MOVED');
        }
        expect(await store.current('all')).toBe('g');
        expect(await codeOf(store.drop('g'))).toBe('E_ROWS_VERSION');
        await store.promote({ group: 'all', from: 'g', to: 'g2', unmoved });
        expect(await ifCurrent()).toEqual([undefined, canTell ? { value: ['new'] } : undefined]);
        await store.drop('g');
        await store.drop('g');
        expect([await store.current('all'), await store.generations()]).toEqual(['g2', ['g2']]);
        expect([await store.cursors('g'), await store.cursors('g2')]).toEqual([
          new Map(),
          new Map([[0, cursor(5)]]),
        ]);
        const reopened = await store.generation('g', TABLES);
        expect(await reopened.read((view) => [view.cursor(0), view.get(OWNERS, ['a'])])).toEqual([
          null,
          undefined,
        ]);
      },
    );

    it('refuses a generation that was made with other tables', async () => {
      const { store, rows } = await open();
      await rows.commit({ partition: 0, expected: null, cursor: cursor(1), changes: [] });
      expect(await codeOf(store.generation('g', [OWNERS]).then((made) => made.read(() => null)))).toBe(
        'E_ROWS_VERSION',
      );
    });

    describeSortedMap(make, runs);
    describeDamage(make);

    it('a commit is visible to all who opened the store, and of two competing commits one succeeds', async () => {
      const { rows, under, stores } = await open();
      if (under.another === undefined) return;
      const second = await under.another();
      stores.push(second);
      const other = await second.generation('g', TABLES);
      await rows.commit({
        partition: 0,
        expected: null,
        cursor: cursor(1),
        changes: [thing('h', 1, 'a', 1), put(OWNERS, ['h'], 'x')],
      });
      expect(await other.read((view) => [view.cursor(0), view.get(OWNERS, ['h'])])).toEqual([
        cursor(1),
        ['x'],
      ]);
      await other.commit({
        partition: 0,
        expected: cursor(1),
        cursor: cursor(2),
        changes: [thing('i', 1, 'a', 1), thing('h', 1, 'a', 2)],
      });
      expect(
        await codeOf(
          rows.commit({
            partition: 0,
            expected: cursor(1),
            cursor: cursor(3),
            changes: [thing('j', 1, 'a', 1)],
          }),
        ),
      ).toBe('E_CURSOR_MOVED');
      await rows.commit({
        partition: 0,
        expected: cursor(2),
        cursor: cursor(3),
        changes: [thing('j', 1, 'a', 1), thing('i', 1, 'a', 2)],
      });
      for (const each of [rows, other])
        expect(
          await each.read((view) =>
            ['h', 'i', 'j'].map((history) => view.range(THINGS, { prefix: [history] }).length),
          ),
        ).toEqual([2, 2, 1]);
    });
  });
};
