import { keyText } from './key.ts';
import type { Key, KeyCell, Range, Row, Table } from './table.ts';

/* Where rows are far away, they are fetched in stretches: all rows of a table between two edges. */

/** A place between keys: before all that begin with `cells`, or behind them. No cells: the ends of the table. */
export type Edge = { readonly cells: Key; readonly behind: boolean };

/** The first rows between two edges, from `high` downwards if `reverse`; all of them without a limit. */
export type Stretch = {
  readonly table: Table;
  readonly low: Edge;
  readonly high: Edge;
  readonly reverse: boolean;
  readonly limit?: number;
};

/** What a stretch holds, in the order that was asked for; `bytes`: about how much that is. */
export type Fetched = { readonly rows: readonly Row[]; readonly bytes: number };

/** An edge as a text that orders as edges and keys do: a key lies behind `low` if its text is not smaller. */
export const edgeText = (table: Table, { cells, behind }: Edge): string => {
  if (cells.length === 0) return behind ? BEHIND_ALL : '';
  return behind ? `${keyText(table, cells)}\u00ff` : keyText(table, cells);
};

/** Texts of keys have one character a byte. */
const BEHIND_ALL = '\u0100';

/** Before and behind everything that begins with `cells`. */
export const edgesOf = (cells: Key): { readonly low: Edge; readonly high: Edge } => ({
  low: { cells, behind: false },
  high: { cells, behind: true },
});

/** The edges of a range. */
export const edgesOfRange = ({ prefix, from, to }: Range): { readonly low: Edge; readonly high: Edge } => {
  const bounded = (cell: KeyCell | undefined): Key => (cell === undefined ? prefix : [...prefix, cell]);
  return { low: { cells: bounded(from), behind: false }, high: { cells: bounded(to), behind: true } };
};

/** As far as reading ahead goes: no further than the owner of a row, as ranges do. */
export const edgesOfOwner = (table: Table, cells: Key): { readonly low: Edge; readonly high: Edge } =>
  edgesOf(table.key.length > 1 ? cells.slice(0, 1) : []);
