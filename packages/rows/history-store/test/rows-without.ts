import type { Key, RowReader, Table } from '@stemma/row-store';
import { HISTORY, naiveHistory, perform, rowsUnderTest, START, type RandomOperation } from '@stemma/test-kit';

const textOf = (key: Key): string => key.join('/');

/** The rows of a history of operations, and the history as it is without rows. */
export const rowsOf = (operations: readonly RandomOperation[]) => {
  const under = rowsUnderTest();
  const history = naiveHistory(under.fold);
  history.run(0, [START]);
  for (const operation of operations) perform(history, operation);
  return { rows: under.rows, history };
};

/** For each row of the tables: which it is, and all rows but this one. */
export function* rowsWithoutOne(
  rows: RowReader,
  tables: readonly Table[],
): Generator<{ readonly table: Table; readonly missing: string; readonly fewer: RowReader }> {
  for (const table of tables)
    for (const { key } of rows.range(table, { prefix: [HISTORY] })) {
      const text = textOf(key);
      yield { table, missing: `without ${table.name} ${text}`, fewer: without(rows, table, text) };
    }
}

const without = (rows: RowReader, table: Table, text: string): RowReader => ({
  get: (of, key) => (of === table && textOf(key) === text ? undefined : rows.get(of, key)),
  range: (of, { limit = Infinity, ...range }) =>
    rows
      .range(of, range)
      .filter(({ key }) => of !== table || textOf(key) !== text)
      .slice(0, limit),
});
