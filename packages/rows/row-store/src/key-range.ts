import { keyText } from './key.ts';
import type { Key, KeyCell, Range, Row, Table } from './table.ts';

/* Remote rows are fetched in ranges: all rows of a table between two bounds. */

/** A point between keys: before all keys that begin with `cells`, or after them. No cells: the ends of the table. */
export type Bound = { readonly cells: Key; readonly after: boolean };

/** The first rows between two bounds, from `high` downwards if `reverse`; all of them without a limit. */
export type KeyRange = {
  readonly table: Table;
  readonly low: Bound;
  readonly high: Bound;
  readonly reverse: boolean;
  readonly limit?: number;
};

/** The rows of a range in the requested order; `bytes`: about their size. */
export type FetchedRows = { readonly rows: readonly Row[]; readonly bytes: number };

/** A bound as a text that sorts like bounds and keys: a key is after `low` if its text is not smaller. */
export const boundText = (table: Table, { cells, after }: Bound): string => {
  if (cells.length === 0) return after ? AFTER_ALL : '';
  return after ? `${keyText(table, cells)}\u00ff` : keyText(table, cells);
};

/** Greater than every key: texts of keys have one character per byte. */
const AFTER_ALL = '\u0100';

/** The bounds before and after all keys that begin with `cells`. */
export const boundsOfPrefix = (cells: Key): { readonly low: Bound; readonly high: Bound } => ({
  low: { cells, after: false },
  high: { cells, after: true },
});

/** The bounds of a range. */
export const boundsOfRange = ({ prefix, from, to }: Range): { readonly low: Bound; readonly high: Bound } => {
  const bounded = (cell: KeyCell | undefined): Key => (cell === undefined ? prefix : [...prefix, cell]);
  return { low: { cells: bounded(from), after: false }, high: { cells: bounded(to), after: true } };
};

/** The limits of reading ahead: like ranges, it does not go beyond the rows of one owner. */
export const boundsOfOwner = (table: Table, cells: Key): { readonly low: Bound; readonly high: Bound } =>
  boundsOfPrefix(table.key.length > 1 ? cells.slice(0, 1) : []);
