import type { HistoryState } from '@stemma/history';
import { defineTable, openMemoryRowStore, stageRows } from '@stemma/row-store';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  BUCKET_COUNTS,
  knownKeys,
  openAddedCounts,
  ROW_COUNTS,
  type CountingRows,
} from '../src/counts/index.ts';

type Change = {
  readonly name: string;
  readonly table: number;
  readonly history: 'h' | 'i';
  readonly remove: boolean;
  readonly earlier: boolean;
  /** It is read before. */
  readonly read: boolean;
};

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

it('counts of rows are those of the rows, whatever a frame writes, repeats and removes, is given up and begins again, with known keys or without', async () => {
  const change: fc.Arbitrary<Change> = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'),
    table: fc.constantFrom(0, 1, 2, 3),
    history: fc.constantFrom('h' as const, 'i' as const),
    remove: fc.boolean(),
    read: fc.boolean(),
    // Of the frame itself, or of the one before.
    earlier: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  });
  const frame = fc.record({ changes: fc.array(change, { maxLength: 30 }), givenUp: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { maxLength: 4 }), fc.boolean(), async (frames, isKnown) => {
      const rows = await openMemoryRowStore().generation('g', tables);
      const staged = stageRows(rows.source());
      const counts = openAddedCounts(staged, (table) => table !== ROW_COUNTS && table !== BUCKET_COUNTS);
      const states = { h: {} as HistoryState, i: {} as HistoryState };
      for (const state of Object.values(states)) knownKeys(state, 0, []);
      const fold = ({ rows }: CountingRows, seq: number, changes: readonly Change[]): void => {
        for (const { name, table, history, remove, earlier, read } of changes) {
          const from = earlier && seq > 0 ? seq - 1 : seq;
          // What an earlier frame wrote is only removed.
          const removes = remove || from !== seq;
          if (table === 3) {
            const bucket = (name.charCodeAt(0) % 3) + 16 * (name.charCodeAt(0) % 2);
            if (read) rows.get(SHARED, [bucket, name, history]);
            if (remove) rows.remove(SHARED, [bucket, name, history]);
            else rows.put(SHARED, [bucket, name, history], [seq]);
          } else if (table === 0) {
            if (removes) rows.remove(OWN, [history, name, from]);
            else rows.put(OWN, [history, name, from], [seq]);
          } else if (table === 1) {
            if (read) rows.get(OTHER, [history, name]);
            if (remove) rows.remove(OTHER, [history, name]);
            else rows.put(OTHER, [history, name], [seq]);
          } else if (removes) rows.remove(HASHED, [history, Buffer.from(name), from]);
          else rows.put(HASHED, [history, Buffer.from(name), from], [seq]);
        }
      };
      for (const [seq, { changes: all, givenUp }] of frames.entries()) {
        // A frame is of one history.
        const history = all[0]?.history ?? 'h';
        const changes = all.map((change) => ({ ...change, history }));
        const begin = (): CountingRows =>
          counts.counting(history, seq, isKnown ? knownKeys(states[history], seq, []) : undefined);
        if (givenUp) {
          const savepoint = staged.savepoint();
          fold(begin(), seq, changes.slice(0, 9));
          staged.rollbackTo(savepoint);
        }
        const counting = begin();
        fold(counting, seq, changes);
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
