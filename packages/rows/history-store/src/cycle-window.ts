import {
  typedRows,
  type CellReader,
  type Range,
  type Row,
  type RowReader,
  type Table,
} from '@stemma/row-store';
import { REGION } from './records.ts';
import { TURNS, VERSIONS } from './tables.ts';

/**
 * The same rows, of which the nodes and turns of a range of cycles are read once: whoever reads many positions near each other asks
 * for the same ones again. What is under `^sys` and the regions themselves are kept too. For one read: rows that come later are
 * not in it.
 */
export const windowOfCycles = (rows: RowReader, low: number, high: number): RowReader => {
  const below = rows as unknown as CellReader;
  const kept = new Map<string, readonly Row[]>();
  const keep = (table: Table, range: Range): readonly Row[] => {
    const key = `${table.name} ${range.prefix.join(' ')}`;
    const known = kept.get(key) ?? below.range(table, range);
    kept.set(key, known);
    return known;
  };
  return typedRows<CellReader>({
    get: (table, key) => below.get(table, key),
    range: (table, range) => {
      const { prefix, from, to, reverse, limit } = range;
      if (reverse === true || limit !== undefined) return below.range(table, range);
      const isOfCycles =
        (table === VERSIONS && prefix.length === 3 && prefix[2] === REGION.turn) ||
        (table === TURNS && prefix.length === 2);
      if (isOfCycles && typeof from === 'number' && typeof to === 'number' && from >= low && to <= high) {
        const window = keep(table, { prefix, from: low, to: high });
        const column = prefix.length;
        return window.slice(firstFrom(window, column, from), firstFrom(window, column, to + 1));
      }
      const isSmall =
        table === VERSIONS && from === undefined && to === undefined && prefix[2] !== REGION.turn;
      return isSmall ? keep(table, range) : below.range(table, range);
    },
  });
};

/** The index of the first row whose cell is `cycle` or more. */
const firstFrom = (rows: readonly Row[], column: number, cycle: number): number => {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.key[column] as number) < cycle) low = middle + 1;
    else high = middle;
  }
  return low;
};
