import { expect, test } from 'vitest';
import {
  defineTable,
  findRow,
  listRows,
  putRow,
  removeRow,
  stageRows,
  type RowReader,
  type StagedRows,
} from './index.ts';

const CALLS = defineTable({
  name: 'calls',
  about: 'For tests.',
  key: [
    ['history', 'text'],
    ['branch_id', 'uint'],
    ['seq', 'uint'],
  ],
  value: [
    ['at', 'wide'],
    ['model', 'text', 'null'],
    ['tokens', 'uint', 'null'],
  ],
});

const CALL = { history: 'h', branch_id: 0, seq: 7, at: 5n } as const;

const nothing: RowReader = { get: () => undefined, range: () => [] };

test('a row is written and read by the names of its columns; what may be null may be left out', () => {
  const rows = stageRows(nothing);
  putRow(rows, CALLS, CALL);
  putRow(rows, CALLS, { ...CALL, seq: 8, model: 'm', tokens: null });
  expect(findRow(rows, CALLS, { history: 'h', branch_id: 0, seq: 7 })).toEqual({
    ...CALL,
    model: null,
    tokens: null,
  });
  // The cells are those of the table in its order, so the bytes do not depend on who wrote the row.
  expect(rows.get(CALLS, ['h', 0, 8])).toEqual([5n, 'm', null]);
  expect(listRows(rows, CALLS, { history: 'h' }).map(({ seq }) => seq)).toEqual([7, 8]);
  expect(listRows(rows, CALLS, { history: 'h', branch_id: 0 }, { from: 8 }).map(({ seq }) => seq)).toEqual([
    8,
  ]);
  expect(listRows(rows, CALLS, {}, { reverse: true, limit: 1 }).map(({ seq }) => seq)).toEqual([8]);
  removeRow(rows, CALLS, { history: 'h', branch_id: 0, seq: 7 });
  expect(findRow(rows, CALLS, { history: 'h', branch_id: 0, seq: 7 })).toBeUndefined();
});

/** What the compiler refuses: nobody calls it. */
export const refused = (rows: StagedRows): void => {
  // @ts-expect-error a column that cannot be null is left out
  putRow(rows, CALLS, { history: 'h', branch_id: 0, seq: 7 });
  // @ts-expect-error a column of the key is left out
  putRow(rows, CALLS, { history: 'h', branch_id: 0, at: 5n });
  // @ts-expect-error there is no such column
  putRow(rows, CALLS, { ...CALL, modell: 'm' });
  // @ts-expect-error a text is no number
  putRow(rows, CALLS, { ...CALL, tokens: '7' });
  // @ts-expect-error a bigint column takes no number
  putRow(rows, CALLS, { ...CALL, at: 5 });
  // @ts-expect-error null where there must be a value
  putRow(rows, CALLS, { ...CALL, at: null });
  // @ts-expect-error a row is found by its whole key
  findRow(rows, CALLS, { history: 'h', branch_id: 0 });
  // @ts-expect-error and by nothing else
  findRow(rows, CALLS, { history: 'h', branch_id: 0, seq: 7, at: 5n });
  // @ts-expect-error removed by its whole key, too
  removeRow(rows, CALLS, { history: 'h' });
  // @ts-expect-error a range leaves out no column between those that it names
  listRows(rows, CALLS, { history: 'h', seq: 7 });
  // @ts-expect-error a range is of the key
  listRows(rows, CALLS, { history: 'h', at: 5n });
  // @ts-expect-error the bounds hold for the column behind the prefix, which the prefix names itself
  listRows(rows, CALLS, { history: 'h', branch_id: 0 }, { prefix: ['h', 0] });
  const found = findRow(rows, CALLS, { history: 'h', branch_id: 0, seq: 7 });
  // @ts-expect-error there may be no such row
  found.seq.toFixed();
  // @ts-expect-error what may be null is not used as if it were not
  found?.tokens.toFixed();
};
