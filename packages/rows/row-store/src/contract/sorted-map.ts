import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeChanges } from '../encoded-changes.ts';
import { stageRows } from '../staged-rows.ts';
import type { Row } from '../table.ts';
import {
  countOf,
  cursor,
  modelRange,
  PACKED,
  padded,
  TABLES,
  THINGS,
  type RowStoreUnderTest,
} from './fixtures.ts';

/** Random batches of puts and removals, read back in ranges before and after each commit. */
export const describeSortedMap = (make: () => RowStoreUnderTest, runs: number): void => {
  it.each([
    ['rows', THINGS],
    ['packed rows', PACKED],
  ])(
    '%s equal a sorted map after random writes and removals in random batches',
    { tags: ['snapshots:keys'] },
    async (_, table) => {
      const text = fc.constantFrom(
        '',
        'a',
        'b',
        'a\u0000',
        'aa',
        'é',
        '😀',
        '\uffff',
        'a\u0001',
        'long'.repeat(40),
      );
      const number = fc.constantFrom(
        0,
        1,
        239,
        240,
        255,
        256,
        65_535,
        65_536,
        2 ** 32,
        2 ** 48 + 1,
        2 ** 53 - 1,
      );
      const change = fc.record({
        key: fc.tuple(fc.constantFrom('h', 'i'), number, text, number),
        remove: fc.boolean(),
      });
      const batches = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(
          batches,
          fc.tuple(number, text, number, number, fc.boolean()),
          async (all, [branchId, node, low, high, reverse]) => {
            const under = make();
            const store = await under.open();
            try {
              const rows = await store.generation('g', TABLES);
              const model = new Map<string, Row>();
              for (const [n, batch] of all.entries()) {
                const source = rows.source();
                const staged = stageRows(source);
                const ranges = [
                  { prefix: ['h'] as const },
                  { prefix: ['h', branchId] as const, from: node },
                  { prefix: ['h', branchId, node] as const, from: low, to: high, reverse },
                ];
                for (const [i, { key, remove }] of batch.entries()) {
                  if (i % 4 === 1) {
                    const before = staged.savepoint();
                    staged.put(table, key, ['taken back']);
                    await source.using(() => ranges.map((range) => staged.range(table, range)));
                    staged.rollbackTo(before);
                  }
                  if (remove) staged.remove(table, key);
                  else staged.put(table, key, [`${n}`]);
                  if (remove) model.delete(JSON.stringify(key));
                  else model.set(JSON.stringify(key), { key, value: padded(table, [`${n}`]) });
                }
                const expected = ranges.map((range) => modelRange([...model.values()], range));
                expect(await source.using(() => ranges.map((range) => staged.range(table, range)))).toEqual(
                  expected,
                );
                const changes = staged.changes();
                // Of every other batch, half as bytes.
                const first = n % 2 === 0 ? changes.length : changes.length >> 1;
                await rows.commit({
                  partition: 0,
                  expected: n === 0 ? null : cursor(n),
                  cursor: cursor(n + 1),
                  changes: changes.slice(0, first),
                  encoded: [[], changes.slice(first)].map((part) => encodeChanges(TABLES, part)),
                });
                expect(await rows.read((view) => ranges.map((range) => view.range(table, range)))).toEqual(
                  expected,
                );
              }
              expect(await countOf(rows, table)).toBe(model.size);
            } finally {
              await store.close();
              await under.cleanUp();
            }
          },
        ),
        { numRuns: runs },
      );
    },
  );
};
