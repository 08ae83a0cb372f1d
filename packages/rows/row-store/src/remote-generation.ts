import { compareNumbers } from '@stemma/canonical';
import { fetching, missing, missingKind, resume } from '@stemma/suspend';
import { changesOf } from './encoded-changes.ts';
import { intervalCache, type IntervalCache } from './interval-cache.ts';
import { boundsOfPrefix } from './key-range.ts';
import { sameCursor } from './memory-row-store.ts';
import { remoteRows, type FetchRows } from './remote-rows.ts';
import type { Generation, GenerationView, ReadBasis, RowBatch, RowSource, Scan } from './store.ts';
import { keyText } from './key.ts';
import type { Key, KeyCell, Row, RowOf, Table, ValueOf } from './table.ts';

/** One state of a remote generation. */
export type RemoteState = {
  readonly cursors: ReadonlyMap<number, Uint8Array>;
  readonly fetch: FetchRows;
  /** How many rows of a table an owner has. */
  readonly count: (table: Table, owner: KeyCell) => Promise<number>;
  /** Of each table, by its name; empty: it does not know. */
  readonly removals?: ReadonlyMap<string, string>;
};

type Uncounted = { readonly name: string; readonly table: Table; readonly owner: KeyCell };

/** A generation of a store over a network: all reads are asynchronous, in few and large requests. */
export type RemoteGeneration = {
  readonly name: string;
  readonly tables: readonly Table[];
  /** All that `fn` fetches belongs to one state. */
  state<T>(fn: (state: RemoteState) => Promise<T>): Promise<T>;
  /** Each fetch reads the newest committed state. */
  readonly fetch: FetchRows;
  commit(batch: RowBatch): Promise<void>;
};

const PAGE = 2_000;
/** The most rows cached for the next batch of a partition. */
const MOST_KEPT = 100_000;

/** The port's generation over remote rows. */
export const remoteGeneration = (remote: RemoteGeneration): Generation => {
  /** By partition, rows that are valid while its cursor is this one: no other process can commit without moving it. */
  const kept = new Map<number, { cursor: Uint8Array | null; readonly known: IntervalCache }>();
  return {
    name: remote.name,
    tables: remote.tables,
    read: (fn) =>
      remote.state(({ cursors, fetch, count, removals }) => {
        const counts = new Map<string, number>();
        // A kind of its own, as the rows have one.
        const uncounted = missingKind<Uncounted>('numbers of rows', ({ name }) => name);
        const rows = remoteRows(intervalCache(), fetch);
        const partitions = [...cursors.keys()].sort(compareNumbers);
        const view: GenerationView = {
          get: (table, key) => rows.get(table, key),
          range: (table, range) => rows.range(table, range),
          cursor: (partition) => cursors.get(partition) ?? null,
          partitions: () => partitions,
          count(table, owner) {
            const name = `${table.name} ${keyText(table, [owner])}`;
            const known = counts.get(name);
            if (known === undefined) throw missing(uncounted, [{ name, table, owner }]);
            return known;
          },
          removals: ({ name }) => removals?.get(name),
        };
        const counting = fetching(uncounted, async (needs) => {
          for (const { name, table, owner } of needs) counts.set(name, await count(table, owner));
        });
        return resume(() => rows.using(() => fn(view)), counting);
      }),
    scan: (fn) => remote.state((state) => fn(scanOf(state))),
    source: (basis?: ReadBasis): RowSource => {
      if (basis === undefined) return remoteRows(intervalCache(), remote.fetch);
      const { partition, cursor } = basis;
      const before = kept.get(partition);
      if (before !== undefined && sameCursor(before.cursor, cursor))
        return remoteRows(before.known, remote.fetch);
      const known = intervalCache();
      kept.set(partition, { cursor, known });
      return remoteRows(known, remote.fetch);
    },
    knownCursor: (partition) => kept.get(partition)?.cursor ?? undefined,
    async commit(batch) {
      const { partition, expected, cursor } = batch;
      const now = kept.get(partition);
      // Dropped unless the commit succeeds: the cached rows may then differ from the stored ones.
      kept.delete(partition);
      await remote.commit(batch);
      if (now === undefined || !sameCursor(now.cursor, expected)) return;
      for (const change of changesOf(remote.tables, batch)) now.known.change(change);
      now.cursor = Uint8Array.from(cursor);
      if (now.known.size <= MOST_KEPT) kept.set(partition, now);
    },
  };
};

const scanOf = ({ cursors, fetch }: RemoteState): Scan => ({
  cursor: async (partition) => cursors.get(partition) ?? null,
  partitions: async () => [...cursors.keys()].sort(compareNumbers),
  async get<T extends Table>(table: T, key: Key) {
    const [found] = await fetch([{ table, ...boundsOfPrefix(key), reverse: false, limit: 1 }]);
    return found?.rows[0]?.value as ValueOf<T> | undefined;
  },
  async *entries<T extends Table>(table: T) {
    const { high } = boundsOfPrefix([]);
    for (let { low } = boundsOfPrefix([]); ;) {
      const [page] = await fetch([{ table, low, high, reverse: false, limit: PAGE }]);
      const rows: readonly Row[] = page?.rows ?? [];
      yield* rows as readonly RowOf<T>[];
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) return;
      low = boundsOfPrefix(last.key).high;
    }
  },
});
