import type { WideJson } from '@stemma/canonical';

/**
 * Types of columns. `uint`: 0…2^53−1; `int`: ±(2^53−1); `number`: any finite number; `wide`: a bigint of up to 64 bits;
 * `json`: any JSON value, integers of up to 64 bits.
 */
export type ColumnType = 'text' | 'uint' | 'int' | 'number' | 'wide' | 'bytes' | 'bool' | 'json';

/** What a column of a value may hold. */
export type Cell = WideJson | Uint8Array;

/** What a column of a key may hold. */
export type KeyCell = string | number | Uint8Array;

/** What a cell of each type of column is. */
type CellTypes = {
  readonly text: string;
  readonly uint: number;
  readonly int: number;
  readonly number: number;
  readonly wide: bigint;
  readonly bytes: Uint8Array;
  readonly bool: boolean;
  readonly json: WideJson;
};

type KeyColumn = readonly [name: string, type: 'text' | 'uint' | 'bytes'];

/** A column that may be null says so. */
type ValueColumn =
  readonly [name: string, type: ColumnType] | readonly [name: string, type: ColumnType, nullable: 'null'];

/**
 * A table of a read model as data: the key's columns in order, then the value's. Each adapter maps it to its
 * technology: ordered keys in lmdb, typed columns in PostgreSQL. The first column of a key is the owner of the row (a
 * history, a partition): no range crosses owners, except in tables whose key is the owner alone.
 */
export type Table<
  K extends readonly KeyColumn[] = readonly KeyColumn[],
  V extends readonly ValueColumn[] = readonly ValueColumn[],
> = {
  /** Unique in a generation. */
  readonly name: string;
  /** What a row contains, in a sentence or two: for the page on rows and for comments in a database. */
  readonly about: string;
  readonly key: K;
  readonly value: V;
  /** True if it depends on where records are stored (offsets in a log): rebuilt with the rest, never compared. */
  readonly local?: boolean;
  /** True if its rows are usually read many at a time: a store may keep neighbours together. At most 31 columns. */
  readonly packed?: boolean;
  /** True if its rows are written again and again: of the writes of a batch only the last one of each row is committed. */
  readonly rewritten?: boolean;
  /**
   * SQL that selects what people see under the table's name, the same columns, if other tables have some of it. `$` is the
   * schema with the tables; `$.text_of(json)` gives a text in a cell of `json` as a column of texts has it.
   */
  readonly view?: string;
};

/** A table whose rows have the types of its columns. */
export const defineTable = <const K extends readonly KeyColumn[], const V extends readonly ValueColumn[]>(
  table: Table<K, V>,
): Table<K, V> => table;

/** Cells in the order of the table's columns. */
export type Key = readonly KeyCell[];

/** Reads return a cell for every column of the table; cells left out at the end of a write are null. */
export type Value = readonly Cell[];

export type Row = { readonly key: Key; readonly value: Value };

/** The cell of a column. */
export type CellIn<C> = C extends readonly [string, infer T extends ColumnType, 'null']
  ? CellTypes[T] | null
  : C extends readonly [string, infer T extends ColumnType]
    ? CellTypes[T]
    : never;

type CellsIn<Columns extends readonly unknown[]> = { readonly [I in keyof Columns]: CellIn<Columns[I]> };

/** The cells of a table's keys. */
export type KeyOf<T extends Table> = CellsIn<T['key']>;

/** The cells of a table's values, as they are read. */
export type ValueOf<T extends Table> = CellsIn<T['value']>;

/** The same as they are written: null at the end can be left out. */
export type WrittenOf<T extends Table> = Partial<ValueOf<T>>;

export type RowOf<T extends Table> = { readonly key: KeyOf<T>; readonly value: ValueOf<T> };

/**
 * Rows whose key begins with `prefix`, in the order of the keys (texts by code point); `from` and `to` bound the column
 * after the prefix, both inclusive.
 */
export type Range = {
  readonly prefix: Key;
  readonly from?: KeyCell;
  readonly to?: KeyCell;
  readonly reverse?: boolean;
  readonly limit?: number;
};

/** A range of a table. */
export type RangeOf<T extends Table> = Omit<Range, 'prefix'> & { readonly prefix: Partial<KeyOf<T>> };

/**
 * Reads rows synchronously: a fold or a query never waits in the middle (docs/decisions). For remote rows a read throws
 * `Missing`; do not catch it.
 */
export type RowReader = {
  get<T extends Table>(table: T, key: KeyOf<T>): ValueOf<T> | undefined;
  range<T extends Table>(table: T, range: RangeOf<T>): readonly RowOf<T>[];
};

/** The rows of a fold, which sees its own earlier writes of the same batch. */
export type Rows = RowReader & {
  put<T extends Table>(table: T, key: KeyOf<T>, value: WrittenOf<T>): void;
  remove<T extends Table>(table: T, key: KeyOf<T>): void;
};

/** Reads rows of any table as cells: how an adapter reads. */
export type CellReader = {
  get(table: Table, key: Key): Value | undefined;
  range(table: Table, range: Range): readonly Row[];
};

/** The same rows with the types of their tables. An adapter gives what the columns say, or it has a fault. */
export const typedRows = <R extends CellReader>(reader: R): Omit<R, keyof CellReader> & RowReader =>
  reader as unknown as Omit<R, keyof CellReader> & RowReader;
