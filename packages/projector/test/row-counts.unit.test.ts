import { defineTable, openMemoryRowStore, stageRows } from '@stemma/row-store';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countingRows, ROW_COUNTS } from '../src/row-counts.ts';

const key = [
  ['history', 'text'],
  ['name', 'text'],
  ['from', 'uint'],
] as const;
const OWN = defineTable({ name: 'own', about: '', key, value: [['n', 'uint']] });
const OTHER = defineTable({ name: 'other', about: '', key: [key[0], key[1]], value: [['n', 'uint']] });
const HASHED = defineTable({
  name: 'hashed',
  about: '',
  key: [key[0], ['hash', 'bytes'], key[2]],
  value: [['n', 'uint']],
});
const tables = [OWN, OTHER, HASHED, ROW_COUNTS];

it('counts of rows are those of the rows, whatever a frame writes, repeats and removes', async () => {
  const change = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'),
    table: fc.constantFrom(0, 1, 2),
    remove: fc.boolean(),
    // Of the frame itself, or of the one before.
    earlier: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 30 }), { maxLength: 4 }), async (frames) => {
      const rows = await openMemoryRowStore().generation('g', tables);
      const staged = stageRows(rows.source());
      for (const [seq, changes] of frames.entries()) {
        const counting = countingRows(staged, 'h', seq, (table) => table !== ROW_COUNTS);
        for (const { name, table, remove, earlier } of changes) {
          const from = earlier && seq > 0 ? seq - 1 : seq;
          // What an earlier frame wrote is only removed.
          const removes = remove || from !== seq;
          if (table === 0) {
            if (removes) counting.rows.remove(OWN, ['h', name, from]);
            else counting.rows.put(OWN, ['h', name, from], [seq]);
          } else if (table === 1) {
            if (remove) counting.rows.remove(OTHER, ['h', name]);
            else counting.rows.put(OTHER, ['h', name], [seq]);
          } else if (removes) counting.rows.remove(HASHED, ['h', Buffer.from(name), from]);
          else counting.rows.put(HASHED, ['h', Buffer.from(name), from], [seq]);
        }
        counting.finish();
      }
      for (const table of [OWN, OTHER, HASHED])
        expect(staged.get(ROW_COUNTS, ['h', table.name])?.[0] ?? 0).toBe(
          staged.range(table, { prefix: ['h'] }).length,
        );
    }),
    { numRuns: 200 },
  );
});
