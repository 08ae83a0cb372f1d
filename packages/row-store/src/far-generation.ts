import { compareNumbers } from '@stemma/canonical';
import { knownRows, type KnownRows } from './far-known.ts';
import { farRows, type Fetch } from './far-rows.ts';
import { edgesOf } from './far-stretch.ts';
import { sameCursor } from './memory-row-store.ts';
import type { Generation, GenerationView, Place, RowBatch, RowSource, Scan } from './store.ts';
import type { Row, Table } from './table.ts';

/** One state of a generation that lies far away. */
export type FarState = { readonly cursors: ReadonlyMap<number, Uint8Array>; readonly fetch: Fetch };

/** A generation as a store over a network has it: whatever is asked is asked asynchronously, in few and large questions. */
export type FarRows = {
  readonly name: string;
  readonly tables: readonly Table[];
  /** All that `fn` fetches is one state. */
  state<T>(fn: (state: FarState) => Promise<T>): Promise<T>;
  /** Each fetch a state of its own, with what is committed now. */
  readonly fetch: Fetch;
  commit(batch: RowBatch): Promise<void>;
};

const PAGE = 2_000;
/** Rows kept at hand for the next batch of a partition. */
const MOST_KEPT = 100_000;

/** The port's generation over rows that lie far away. */
export const farGeneration = (far: FarRows): Generation => {
  /** By partition, what is true as long as its cursor is this one. Nobody else's commit can leave it in place. */
  const kept = new Map<number, { cursor: Uint8Array | null; readonly known: KnownRows }>();
  return {
    name: far.name,
    tables: far.tables,
    read: (fn) =>
      far.state(({ cursors, fetch }) => {
        const rows = farRows(knownRows(), fetch);
        const partitions = [...cursors.keys()].sort(compareNumbers);
        const view: GenerationView = {
          get: (table, key) => rows.get(table, key),
          range: (table, range) => rows.range(table, range),
          cursor: (partition) => cursors.get(partition) ?? null,
          partitions: () => partitions,
        };
        return rows.using(() => fn(view));
      }),
    scan: (fn) => far.state((state) => fn(scanOf(state))),
    source: (place?: Place): RowSource => {
      if (place === undefined) return farRows(knownRows(), far.fetch);
      const { partition, cursor } = place;
      const before = kept.get(partition);
      if (before !== undefined && sameCursor(before.cursor, cursor)) return farRows(before.known, far.fetch);
      const known = knownRows();
      kept.set(partition, { cursor, known });
      return farRows(known, far.fetch);
    },
    async commit(batch) {
      const { partition, expected, cursor, changes } = batch;
      const now = kept.get(partition);
      // Whatever comes of it, unless it succeeds: what is at hand may not be what is there.
      kept.delete(partition);
      await far.commit(batch);
      if (now === undefined || !sameCursor(now.cursor, expected)) return;
      for (const change of changes) now.known.change(change);
      now.cursor = Uint8Array.from(cursor);
      if (now.known.size <= MOST_KEPT) kept.set(partition, now);
    },
  };
};

const scanOf = ({ cursors, fetch }: FarState): Scan => ({
  cursor: async (partition) => cursors.get(partition) ?? null,
  partitions: async () => [...cursors.keys()].sort(compareNumbers),
  async get(table, key) {
    const [found] = await fetch([{ table, ...edgesOf(key), reverse: false, limit: 1 }]);
    return found?.rows[0]?.value;
  },
  async *entries(table) {
    const { high } = edgesOf([]);
    for (let { low } = edgesOf([]); ;) {
      const [page] = await fetch([{ table, low, high, reverse: false, limit: PAGE }]);
      const rows: readonly Row[] = page?.rows ?? [];
      yield* rows;
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) return;
      low = edgesOf(last.key).high;
    }
  },
});
