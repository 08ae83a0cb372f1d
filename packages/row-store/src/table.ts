import type { WideJson } from '@stemma/canonical';

/** Types of columns. `uint`: 0…2^53−1. `wide`: a bigint. `json`: any JSON value with integers of any size. */
export type ColumnType = 'text' | 'uint' | 'wide' | 'bytes' | 'bool' | 'json';

export type Cell = string | number | bigint | boolean | Uint8Array | WideJson | null;

/**
 * A table of a read model as data: the key's columns in order (text, uint, bytes only; the first is the history or the
 * partition), then the value's. An adapter makes of it what it can: ordered keys in lmdb, typed columns in PostgreSQL.
 * Every column may be null but those of the key.
 */
export type Table = {
  readonly name: string;
  readonly key: readonly (readonly [name: string, type: 'text' | 'uint' | 'bytes'])[];
  readonly value: readonly (readonly [name: string, type: ColumnType])[];
};

/** Cells in the order of the table's columns. */
export type Key = readonly (string | number | Uint8Array)[];
export type Row = { readonly key: Key; readonly value: readonly Cell[] };

/** Rows whose key begins with `prefix`; `from` and `to` bound the column behind it, both inclusive. */
export type Range = {
  readonly prefix: Key;
  readonly from?: string | number | Uint8Array;
  readonly to?: string | number | Uint8Array;
  readonly reverse?: boolean;
  readonly limit?: number;
};

/** What a fold may do with rows: it sees what it wrote before in the same batch. Sync on lmdb and in memory. */
export type Rows = RowReader & {
  put(table: Table, key: Key, value: readonly Cell[]): void;
  remove(table: Table, key: Key): void;
};

export type RowReader = {
  get(table: Table, key: Key): Promise<readonly Cell[] | undefined> | readonly Cell[] | undefined;
  range(table: Table, range: Range): Promise<readonly Row[]> | readonly Row[];
};
