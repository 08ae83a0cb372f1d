import { keyText } from './key.ts';
import type { Key, KeyCell, Range, Row, Table } from './table.ts';

/* Where rows are far away, they are fetched in stretches: all rows of a table between two edges. */

/** A place between keys: before all that begin with `cells`, or behind them. No cells: the ends of the table. */
export type Bound = { readonly cells: Key; readonly after: boolean };

/** The first rows between two edges, from `high` downwards if `reverse`; all of them without a limit. */
export type KeyRange = {
  readonly table: Table;
  readonly low: Bound;
  readonly high: Bound;
  readonly reverse: boolean;
  readonly limit?: number;
};

/** What a stretch holds, in the order that was asked for; `bytes`: about how much that is. */
export type FetchedRows = { readonly rows: readonly Row[]; readonly bytes: number };

/** An edge as a text that orders as edges and keys do: a key lies behind `low` if its text is not smaller. */
export const boundText = (table: Table, { cells, after }: Bound): string => {
  if (cells.length === 0) return after ? AFTER_ALL : '';
  return after ? `${keyText(table, cells)}\u00ff` : keyText(table, cells);
};

/** Texts of keys have one character a byte. */
const AFTER_ALL = '\u0100';

/** Before and behind everything that begins with `cells`. */
export const boundsOfPrefix = (cells: Key): { readonly low: Bound; readonly high: Bound } => ({
  low: { cells, after: false },
  high: { cells, after: true },
});

/** The edges of a range. */
export const boundsOfRange = ({ prefix, from, to }: Range): { readonly low: Bound; readonly high: Bound } => {
  const bounded = (cell: KeyCell | undefined): Key => (cell === undefined ? prefix : [...prefix, cell]);
  return { low: { cells: bounded(from), after: false }, high: { cells: bounded(to), after: true } };
};

/** As far as reading ahead goes: no further than the owner of a row, as ranges do. */
export const boundsOfOwner = (table: Table, cells: Key): { readonly low: Bound; readonly high: Bound } =>
  boundsOfPrefix(table.key.length > 1 ? cells.slice(0, 1) : []);
