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

/**
 * A table of a read model as data: the key's columns in order, then the value's. Each adapter maps it to its
 * technology: ordered keys in lmdb, typed columns in PostgreSQL. The first column of a key is the owner of the row (a
 * history, a partition): no range crosses owners, except in tables whose key is the owner alone. Columns of a value may
 * be null.
 */
export type Table = {
  /** Unique in a generation. */
  readonly name: string;
  /** What a row contains, in a sentence or two: for the page on rows and for comments in a database. */
  readonly about: string;
  readonly key: readonly (readonly [name: string, type: 'text' | 'uint' | 'bytes'])[];
  readonly value: readonly (readonly [name: string, type: ColumnType])[];
  /** True if it depends on where records are stored (offsets in a log): rebuilt with the rest, never compared. */
  readonly local?: boolean;
  /** True if its rows are usually read many at a time: a store may keep neighbours together. At most 31 columns. */
  readonly packed?: boolean;
};

/** Cells in the order of the table's columns. */
export type Key = readonly KeyCell[];

/** Reads return a cell for every column of the table; cells left out at the end of a write are null. */
export type Value = readonly Cell[];

export type Row = { readonly key: Key; readonly value: Value };

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

/**
 * Reads rows synchronously: a fold or a query never waits in the middle (docs/decisions). For remote rows a read throws
 * `Missing`; do not catch it.
 */
export type RowReader = {
  get(table: Table, key: Key): Value | undefined;
  range(table: Table, range: Range): readonly Row[];
};

/** The rows of a fold, which sees its own earlier writes of the same batch. */
export type Rows = RowReader & {
  put(table: Table, key: Key, value: Value): void;
  remove(table: Table, key: Key): void;
};
