import { defineTable, openMemoryRowStore, stageRows } from '@stemma/row-store';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BUCKET_COUNTS, openAddedCounts, ROW_COUNTS } from '../src/row-counts.ts';

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
const SHARED = defineTable({
  name: 'shared',
  about: '',
  key: [['bucket', 'uint'], ['name', 'text'], key[0]],
  value: [['n', 'uint']],
});
const tables = [OWN, OTHER, HASHED, SHARED, ROW_COUNTS, BUCKET_COUNTS];

it('counts of rows are those of the rows, whatever a frame writes, repeats and removes', async () => {
  const change = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'),
    table: fc.constantFrom(0, 1, 2, 3),
    history: fc.constantFrom('h', 'i'),
    remove: fc.boolean(),
    // Of the frame itself, or of the one before.
    earlier: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 30 }), { maxLength: 4 }), async (frames) => {
      const rows = await openMemoryRowStore().generation('g', tables);
      const staged = stageRows(rows.source());
      const counts = openAddedCounts(staged, (table) => table !== ROW_COUNTS && table !== BUCKET_COUNTS);
      for (const [seq, changes] of frames.entries()) {
        // A frame is of one history.
        const history = changes[0]?.history ?? 'h';
        const counting = counts.counting(history, seq);
        for (const { name, table, remove, earlier } of changes) {
          const from = earlier && seq > 0 ? seq - 1 : seq;
          // What an earlier frame wrote is only removed.
          const removes = remove || from !== seq;
          if (table === 3) {
            const bucket = (name.charCodeAt(0) % 3) + 16 * (name.charCodeAt(0) % 2);
            if (remove) counting.rows.remove(SHARED, [bucket, name, history]);
            else counting.rows.put(SHARED, [bucket, name, history], [seq]);
          } else if (table === 0) {
            if (removes) counting.rows.remove(OWN, [history, name, from]);
            else counting.rows.put(OWN, [history, name, from], [seq]);
          } else if (table === 1) {
            if (remove) counting.rows.remove(OTHER, [history, name]);
            else counting.rows.put(OTHER, [history, name], [seq]);
          } else if (removes) counting.rows.remove(HASHED, [history, Buffer.from(name), from]);
          else counting.rows.put(HASHED, [history, Buffer.from(name), from], [seq]);
        }
        counting.finish();
        if (seq % 2 === 0) counts.write();
      }
      counts.write();
      for (const history of ['h', 'i'])
        for (const table of [OWN, OTHER, HASHED])
          // No row where there are none, so that it does not depend on what was written together.
          expect(staged.get(ROW_COUNTS, [history, table.name])?.[0]).toBe(
            staged.range(table, { prefix: [history] }).length || undefined,
          );
      for (const part of [0, 1, 2])
        for (const history of ['h', 'i'])
          expect(staged.get(BUCKET_COUNTS, [part, 'shared', history])?.[0]).toBe(
            [part, part + 16]
              .flatMap((bucket) => staged.range(SHARED, { prefix: [bucket] }))
              .filter((row) => row.key[2] === history).length || undefined,
          );
    }),
    { numRuns: 200 },
  );
});
