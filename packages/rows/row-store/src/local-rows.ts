import type { GenerationView, RowSource, Scan } from './store.ts';
import type { Row, RowOf, RowReader, Table } from './table.ts';

/* For stores that read all rows synchronously. */

/** Reads whole tables synchronously. */
export type TableReader = {
  /** Every row of a table once, in an order that the adapter chooses. */
  entries(table: Table): Iterable<Row>;
};

export const localSource = (rows: RowReader): RowSource => ({
  get: (table, key) => rows.get(table, key),
  range: (table, range) => rows.range(table, range),
  using: async (fn) => fn(),
});

export const scanOf = (view: GenerationView & TableReader): Scan => ({
  cursor: async (partition) => view.cursor(partition),
  partitions: async () => view.partitions(),
  get: async (table, key) => view.get(table, key),
  async *entries<T extends Table>(table: T) {
    yield* view.entries(table) as Iterable<RowOf<T>>;
  },
});
