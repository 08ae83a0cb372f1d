import type { Parameter } from '../database/database.ts';
import { encodeKey, type RowChange, type Table } from '@stemma/row-store';
import { checksumOfRow } from './checksum-of-row.ts';
import { arrayOf, writeCell } from './cells.ts';
import { deleteRows, upsertRows, type Statement } from './statements.ts';

/** Some changes of one table in a batch: as many rows as one statement takes. */
export type Write = {
  readonly table: Table;
  readonly remove: boolean;
  readonly values: readonly Parameter[];
};

const MOST_ROWS = 5_000;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * The writes of a batch: for each key its last change. All changes are checked before anything is written.
 *
 * @throws E_KEY_TOO_LONG, E_INPUT_SURROGATE
 */
export const writesOf = (changes: readonly RowChange[]): Write[] => {
  const tables = new Map<Table, Map<string, RowChange>>();
  for (const change of changes) {
    let last = tables.get(change.table);
    if (last === undefined) tables.set(change.table, (last = new Map<string, RowChange>()));
    last.set(encodeKey(change.table, change.key).toString('latin1'), change);
  }
  return [...tables].flatMap(([table, last]) => {
    const all = [...last.values()];
    return [
      ...splitWrites(
        table,
        all.filter(({ value }) => value === null),
        true,
      ),
      ...splitWrites(
        table,
        all.filter(({ value }) => value !== null),
        false,
      ),
    ];
  });
};

const splitWrites = (table: Table, changes: readonly RowChange[], remove: boolean): Write[] => {
  const columns = remove ? table.key : [...table.key, ...table.value];
  const writes: Write[] = [];
  let cells: (string | null)[][] = columns.map(() => []);
  let checksums: string[] = [];
  let [rows, bytes] = [0, 0];
  const flush = (): void => {
    if (rows === 0) return;
    const values = columns.map(([, type], i) => arrayOf(type, cells[i] ?? []));
    if (!remove) values.push(arrayOf('uint', checksums));
    writes.push({ table, remove, values });
    cells = columns.map(() => []);
    checksums = [];
    [rows, bytes] = [0, 0];
  };
  for (const { key, value } of changes) {
    for (const [i, [, type]] of columns.entries()) {
      const cell = writeCell(type, i < key.length ? key[i] : value?.[i - key.length]);
      cells[i]?.push(cell);
      bytes += cell?.length ?? 4;
    }
    if (value !== null) checksums.push(String(checksumOfRow(table, key, value)));
    if (++rows >= MOST_ROWS || bytes >= MOST_BYTES) flush();
  }
  flush();
  return writes;
};

export const statementOf = (number: number, { table, remove, values }: Write): Statement => ({
  text: remove ? deleteRows(number, table) : upsertRows(number, table),
  values,
});
