import { compareBytes, compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { hashBytes, seedOf } from './checksum.ts';
import { changesOf } from './encoded-changes.ts';
import { decodeKey, encodeKey, encodeRange } from './key.ts';
import { localSource, scanOf, type TableReader } from './local-rows.ts';
import { sortedRows, type SortedRows } from './sorted-rows.ts';
import type { Generation, GenerationView, RowStore } from './store.ts';
import { typedRows, type CellReader, type Row, type Table } from './table.ts';
import { sealedValue, unsealValue } from './value.ts';

/** Rows of a generation as they are stored. */
export type Kept = {
  readonly cursors: Map<number, Uint8Array>;
  readonly tables: Map<string, SortedRows>;
  readonly shape: string;
};

/** What a store in memory keeps: the bytes of its rows, as a file would hold them. */
export type Memory = { readonly generations: Map<string, Kept>; readonly pointers: Map<string, string> };

/** A generation that can also be read synchronously. */
export type MemoryGeneration = Generation & {
  now<T>(fn: (view: GenerationView & TableReader) => T): T;
};

/** A store that also returns its generations synchronously. */
export type MemoryRowStore = RowStore & {
  /** Like `generation`, synchronously. @throws E_ROWS_VERSION */
  rows(name: string, tables: readonly Table[]): MemoryGeneration;
};

/** Rows in memory, for tests: reads and writes use the same bytes as on disk. Stores with one memory have the same rows. */
export const openMemoryRowStore = (
  { generations: kept, pointers }: Memory = { generations: new Map(), pointers: new Map() },
): MemoryRowStore => {
  return {
    rows: (name, tables) => openGeneration(name, tables, kept),
    generation: async (name, tables) => openGeneration(name, tables, kept),
    current: async (group) => pointers.get(group) ?? null,
    async promote({ group, from, to, unmoved }) {
      if ((pointers.get(group) ?? null) !== from) throw cursorMoved(`${group} is at another generation`);
      for (const { generation, partition, cursor } of unmoved)
        if (!sameCursor(kept.get(generation)?.cursors.get(partition) ?? null, cursor))
          throw cursorMoved(`${generation} was changed by another projector`);
      pointers.set(group, to);
    },
    cursors: async (name) => new Map(kept.get(name)?.cursors),
    generations: async () => [...kept.keys()].sort(compareCodePoints),
    async drop(name) {
      if ([...pointers.values()].includes(name))
        throw fail('E_ROWS_VERSION', `the generation ${name} is being read`);
      kept.delete(name);
    },
    async discard(name) {
      for (const [group, current] of pointers) if (current === name) pointers.delete(group);
      return kept.delete(name);
    },
    bytes: async () =>
      [...kept.values()].reduce(
        (sum, { tables }) => sum + [...tables.values()].reduce((all, rows) => all + rows.bytes(), 0),
        0,
      ),
    destroy: async () => {
      kept.clear();
      pointers.clear();
    },
    close: () => Promise.resolve(),
  };
};

const openGeneration = (
  name: string,
  tables: readonly Table[],
  kept: Map<string, Kept>,
): MemoryGeneration => {
  const shape = shapeOf(tables);
  if (kept.has(name) && kept.get(name)?.shape !== shape) throw otherTables(name);
  const rowsOf = (table: Table): SortedRows | undefined => kept.get(name)?.tables.get(table.name);
  const make = (): Kept => {
    let generation = kept.get(name);
    if (generation === undefined) {
      generation = {
        cursors: new Map(),
        tables: new Map(tables.map((table) => [table.name, sortedRows()])),
        shape,
      };
      kept.set(name, generation);
    }
    return generation;
  };
  const seedAt = (table: Table, key: Buffer): number => hashBytes(seedOf(table), key);
  const row = (table: Table, text: string, sealed: Uint8Array): Row => {
    const key = Buffer.from(text, 'latin1');
    const value = unsealValue(table, sealed, seedAt(table, key), name);
    return { key: decodeKey(table, key), value };
  };
  const view = typedRows<CellReader & Omit<GenerationView, keyof CellReader> & TableReader>({
    get(table, key) {
      const bytes = encodeKey(table, key);
      const sealed = rowsOf(table)?.get(bytes.toString('latin1'));
      return sealed === undefined ? undefined : unsealValue(table, sealed, seedAt(table, bytes), name);
    },
    range(table, range) {
      refuseOpenRange(table, range.prefix.length);
      const { start, end } = encodeRange(table, range);
      const found = rowsOf(table)?.range(
        start.toString('latin1'),
        end?.toString('latin1'),
        range.reverse ?? false,
        range.limit ?? Infinity,
      );
      return (found ?? []).map(([key, value]) => row(table, key, value));
    },
    cursor: (partition) => kept.get(name)?.cursors.get(partition) ?? null,
    partitions: () => [...(kept.get(name)?.cursors.keys() ?? [])].sort((a, b) => a - b),
    count(table, owner) {
      const { start, end } = encodeRange(table, { prefix: [owner] });
      const [from, to] = [start.toString('latin1'), end?.toString('latin1')];
      return rowsOf(table)?.range(from, to, false, Infinity).length ?? 0;
    },
    *entries(table) {
      for (const [key, value] of rowsOf(table)?.range('', undefined, false, Infinity) ?? [])
        yield row(table, key, value);
    },
  });
  return {
    name,
    tables,
    now: (fn) => fn(view),
    read: async (fn) => fn(view),
    scan: (fn) => fn(scanOf(view)),
    source: () => localSource(view),
    async commit({ partition, expected, cursor, ...batch }) {
      if (!sameCursor(view.cursor(partition), expected))
        throw cursorMoved(`partition ${partition} of ${name} was changed by another projector`);
      const bytes = changesOf(tables, batch).map(({ table, key, value }) => {
        const at = encodeKey(table, key);
        const sealed = value && Buffer.from(sealedValue(table, value, seedAt(table, at)));
        return [table.name, at.toString('latin1'), sealed] as const;
      });
      const generation = make();
      generation.cursors.set(partition, Uint8Array.from(cursor));
      for (const [table, key, value] of bytes) {
        const rows = generation.tables.get(table);
        if (rows === undefined) throw fail('E_INTERNAL', `${name} has no table ${table}`);
        if (value === null) rows.remove(key);
        else rows.put(key, value);
      }
    },
  };
};

/** The definition of a generation's tables as a text that changes when they do. */
export const shapeOf = (tables: readonly Table[]): string =>
  JSON.stringify(
    tables.map(({ name, key, value, packed, view }) => [
      name,
      key,
      value.map(([column, type]) => [column, type]),
      ...(packed === true ? ['packed'] : []),
      ...(view === undefined ? [] : [{ view }]),
    ]),
  );

export const sameCursor = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === null || b === null ? a === b : compareBytes(a, b) === 0;

/** @throws E_INTERNAL for a range over several owners. */
export const refuseOpenRange = (table: Table, columns: number): void => {
  if (columns === 0 && table.key.length > 1)
    throw fail('E_INTERNAL', `a range of ${table.name} names no owner`);
};

const cursorMoved = (what: string): Error => fail('E_CURSOR_MOVED', what);

const otherTables = (name: string): Error =>
  fail('E_ROWS_VERSION', `the generation ${name} was created with other tables`);
