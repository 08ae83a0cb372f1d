import { compareBytes, compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { decodeKey, encodeKey, encodeRange } from './key.ts';
import { localSource, scanOf, type TableReader } from './local-rows.ts';
import { sortedRows, type SortedRows } from './sorted-rows.ts';
import type { Generation, GenerationView, RowStore } from './store.ts';
import type { Row, Table } from './table.ts';
import { packValue, unpackValue } from './value.ts';

type Kept = {
  readonly cursors: Map<number, Uint8Array>;
  readonly tables: Map<string, SortedRows>;
  readonly shape: string;
};

/** A generation that can also be read synchronously. */
export type MemoryGeneration = Generation & {
  now<T>(fn: (view: GenerationView & TableReader) => T): T;
};

/** A store that also returns its generations synchronously. */
export type MemoryRowStore = RowStore & {
  /** Like `generation`, synchronously. @throws E_ROWS_VERSION */
  rows(name: string, tables: readonly Table[]): MemoryGeneration;
};

/** Rows in memory, for tests: reads and writes use the same bytes as on disk. */
export const openMemoryRowStore = (): MemoryRowStore => {
  const kept = new Map<string, Kept>();
  const pointers = new Map<string, string>();
  return {
    rows: (name, tables) => openGeneration(name, tables, kept),
    generation: async (name, tables) => openGeneration(name, tables, kept),
    current: async (group) => pointers.get(group) ?? null,
    async promote({ group, from, to, unmoved }) {
      if ((pointers.get(group) ?? null) !== from) throw cursorMoved(`${group} is at another generation`);
      for (const { generation, partition, cursor } of unmoved)
        if (!sameCursor(kept.get(generation)?.cursors.get(partition) ?? null, cursor))
          throw cursorMoved(`${generation} has moved on`);
      pointers.set(group, to);
    },
    cursors: async (name) => new Map(kept.get(name)?.cursors),
    generations: async () => [...kept.keys()].sort(compareCodePoints),
    async drop(name) {
      if ([...pointers.values()].includes(name))
        throw fail('E_ROWS_VERSION', `the generation ${name} is being read`);
      kept.delete(name);
    },
    bytes: async () =>
      [...kept.values()].reduce(
        (sum, { tables }) => sum + [...tables.values()].reduce((all, rows) => all + rows.bytes(), 0),
        0,
      ),
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
  const row = (table: Table, key: string, value: Uint8Array): Row => ({
    key: decodeKey(table, Buffer.from(key, 'latin1')),
    value: unpackValue(table, value),
  });
  const view: GenerationView & TableReader = {
    get(table, key) {
      const value = rowsOf(table)?.get(encodeKey(table, key).toString('latin1'));
      return value === undefined ? undefined : unpackValue(table, value);
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
    *entries(table) {
      for (const [key, value] of rowsOf(table)?.range('', undefined, false, Infinity) ?? [])
        yield row(table, key, value);
    },
  };
  return {
    name,
    tables,
    now: (fn) => fn(view),
    read: async (fn) => fn(view),
    scan: (fn) => fn(scanOf(view)),
    source: () => localSource(view),
    async commit({ partition, expected, cursor, changes }) {
      if (!sameCursor(view.cursor(partition), expected))
        throw cursorMoved(`partition ${partition} of ${name} has moved on`);
      const bytes = changes.map(
        ({ table, key, value }) =>
          [table.name, encodeKey(table, key).toString('latin1'), value && packValue(table, value)] as const,
      );
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
  JSON.stringify(tables.map(({ name, key, value }) => [name, key, value]));

export const sameCursor = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === null || b === null ? a === b : compareBytes(a, b) === 0;

/** @throws E_INTERNAL for a range over several owners. */
export const refuseOpenRange = (table: Table, columns: number): void => {
  if (columns === 0 && table.key.length > 1)
    throw fail('E_INTERNAL', `a range of ${table.name} names no owner`);
};

const cursorMoved = (what: string): Error => fail('E_CURSOR_MOVED', what);

const otherTables = (name: string): Error =>
  fail('E_ROWS_VERSION', `the generation ${name} was made with other tables`);
