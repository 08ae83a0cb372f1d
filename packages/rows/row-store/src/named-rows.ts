import type { CellIn, KeyCell, Range, RowReader, Rows, RowOf, Table } from './table.ts';

/*
 * Rows as objects with the names of their columns: how folds and queries read and write them. A row has the columns of its key and of
 * its value; what is written may leave out columns that can be null. The bytes are those of the cells in the order of the table.
 */

type ColumnsByName<C extends readonly (readonly [string, ...unknown[]])[]> = {
  readonly [Column in C[number] as Column[0]]: CellIn<Column>;
};

type NullableColumn = readonly [string, unknown, 'null'];

/** The columns of a table's key by their names. */
export type NamedKey<T extends Table> = ColumnsByName<T['key']>;

/** The columns of a table's value by their names, as they are read. */
export type NamedValue<T extends Table> = ColumnsByName<T['value']>;

/** A row by the names of its columns, as it is read. */
export type NamedRow<T extends Table> = NamedKey<T> & NamedValue<T>;

/** The same as it is written: a column that can be null may be left out. */
export type WrittenRow<T extends Table> = NamedKey<T> & {
  readonly [Column in Exclude<T['value'][number], NullableColumn> as Column[0]]: CellIn<Column>;
} & {
  readonly [Column in Extract<T['value'][number], NullableColumn> as Column[0]]?: CellIn<Column>;
};

/** The first columns of a key, in its order. */
type Leading<
  K extends readonly (readonly [string, ...unknown[]])[],
  Before extends readonly (readonly [string, ...unknown[]])[] = readonly [],
> = K extends readonly [
  infer First extends readonly [string, ...unknown[]],
  ...infer Rest extends readonly (readonly [string, ...unknown[]])[],
]
  ? | (ColumnsByName<Before> & { readonly [Column in K[number] as Column[0]]?: never })
    | Leading<Rest, readonly [...Before, First]>
  : ColumnsByName<Before>;

/** What a range of a table names: the first columns of its key, none left out between them. */
type NamedPrefix<T extends Table> = Leading<T['key']>;

/** Bounds of the column after the prefix, both inclusive. */
type Bounds = Omit<Range, 'prefix'>;

type Cells = { readonly [column: string]: unknown };

type Columns = {
  readonly key: readonly string[];
  readonly value: readonly string[];
  /** Copied for each row: properties that are there are set faster than new ones are made. */
  readonly empty: Cells;
};

const known = new WeakMap<Table, Columns>();

const columnsOf = (table: Table): Columns => {
  let columns = known.get(table);
  if (columns === undefined) {
    const key = table.key.map(([name]) => name);
    const value = table.value.map(([name]) => name);
    const empty = Object.fromEntries([...key, ...value].map((name) => [name, null]));
    known.set(table, (columns = { key, value, empty }));
  }
  return columns;
};

const keyCells = ({ key }: Columns, row: Cells): KeyCell[] => {
  const cells: KeyCell[] = [];
  for (const name of key) cells.push(row[name] as KeyCell);
  return cells;
};

const named = (
  { key, value, empty }: Columns,
  keyCells: readonly unknown[],
  valueCells: readonly unknown[],
): Cells => {
  const row: Record<string, unknown> = { ...empty };
  for (let i = 0; i < key.length; i++) row[key[i] as string] = keyCells[i];
  for (let i = 0; i < value.length; i++) row[value[i] as string] = valueCells[i] ?? null;
  return row;
};

/** The row of a key; undefined: there is none. */
export const findRow = <T extends Table>(
  rows: RowReader,
  table: T,
  key: NamedKey<T>,
): NamedRow<T> | undefined => {
  const columns = columnsOf(table);
  const cells = keyCells(columns, key);
  const value = rows.get<Table>(table, cells);
  return value && (named(columns, cells, value) as NamedRow<T>);
};

/** The rows whose keys begin so, in their order or in reverse. */
export const listRows = <T extends Table>(
  rows: RowReader,
  table: T,
  prefix: NamedPrefix<T>,
  bounds: Bounds = {},
): readonly NamedRow<T>[] => {
  const columns = columnsOf(table);
  const first: Cells = prefix;
  const cells: KeyCell[] = [];
  for (const name of columns.key) {
    const cell = first[name];
    if (cell === undefined) break;
    cells.push(cell as KeyCell);
  }
  return rows
    .range<Table>(table, { ...bounds, prefix: cells })
    .map(({ key, value }) => named(columns, key, value) as NamedRow<T>);
};

/** Writes a row, in place of the one that has its key. */
export const putRow = <T extends Table>(rows: Rows, table: T, row: WrittenRow<T>): void => {
  const columns = columnsOf(table);
  const cells: unknown[] = [];
  for (const name of columns.value) cells.push((row as Cells)[name] ?? null);
  rows.put<Table>(table, keyCells(columns, row), cells as never);
};

/** Removes the row of a key. */
export const removeRow = <T extends Table>(rows: Rows, table: T, key: NamedKey<T>): void =>
  rows.remove<Table>(table, keyCells(columnsOf(table), key));

/** A row of cells by the names of its columns. */
export const namedRow = <T extends Table>(table: T, { key, value }: RowOf<T>): NamedRow<T> =>
  named(columnsOf(table), key, value) as NamedRow<T>;
