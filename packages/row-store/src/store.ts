import type { Key, Row, RowReader, Table, Value } from './table.ts';

/** A row to write, or, with `value` null, to remove. */
export type RowChange = { readonly table: Table; readonly key: Key; readonly value: Value | null };

/** What a projector commits at once: the place it has come to, and the rows that follow from the way there. */
export type RowBatch = {
  readonly partition: number;
  /** What the cursor was when the batch was begun (opaque bytes; null: there was none), compared before anything else. */
  readonly expected: Uint8Array | null;
  readonly cursor: Uint8Array;
  readonly changes: readonly RowChange[];
};

/**
 * The rows of a set of read models that are folded together, with the cursor they stand at. Generations stand beside
 * each other: one is read while the next is built.
 */
export type Generation = {
  readonly name: string;
  readonly tables: readonly Table[];
  /**
   * What `fn` gives. What it reads is one consistent state: everything of some commit and of those before it. `fn` does
   * not wait, and changes nothing: it is called again where rows had to be fetched first.
   */
  read<T>(fn: (view: GenerationView) => T): Promise<T>;
  /** For whole tables: one state as well, but `fn` may wait for what it reads (and for nothing else). */
  scan<T>(fn: (scan: Scan) => Promise<T>): Promise<T>;
  /**
   * Rows for who goes on from a cursor and commits: not one state, but `commit` refuses what was read beside a cursor that
   * has moved. Sees its own generation's commits.
   *
   * @param basis where the caller stands, and what it will commit on: what was read and committed there stays at hand
   */
  source(basis?: ReadBasis): RowSource;
  /**
   * Writes all of the batch or nothing. Survives the end of the process; whether it survives the end of the machine is
   * the adapter's to say: if not, the store finds out when it is opened and begins anew.
   *
   * @throws E_CURSOR_MOVED if the cursor is not the expected one: nothing is written.
   */
  commit(batch: RowBatch): Promise<void>;
};

/** A cursor that was read, and not from a source. */
export type ReadBasis = { readonly partition: number; readonly cursor: Uint8Array | null };

export type GenerationView = RowReader & {
  /** The cursor of a partition as it was committed; null: nothing was yet. */
  cursor(partition: number): Uint8Array | null;
  partitions(): readonly number[];
};

/** One state of a generation, read piece by piece. */
export type Scan = {
  cursor(partition: number): Promise<Uint8Array | null>;
  partitions(): Promise<readonly number[]>;
  get(table: Table, key: Key): Promise<Value | undefined>;
  /** Every row of a table, each once, in an order of the adapter's own. */
  entries(table: Table): AsyncIterable<Row>;
};

/** Rows that may have to be fetched: a read outside of `using` throws `Missing` for what is not at hand. */
export type RowSource = RowReader & {
  /** What `fn` gives once all rows that it asks for are at hand: it is called again each time some were fetched. */
  using<T>(fn: () => T | Promise<T>): Promise<T>;
};

/** To make a generation the one that is read, if nothing has moved meanwhile. */
export type Promotion = {
  readonly group: string;
  /** The generation that is current now; null: none is. */
  readonly from: string | null;
  readonly to: string;
  /** Cursors that must still be as they were seen. */
  readonly unmoved: readonly {
    readonly generation: string;
    readonly partition: number;
    readonly cursor: Uint8Array | null;
  }[];
};

/** Rows on some technology. Several processes may have the same store open. */
export type RowStore = {
  /**
   * A generation by its name; made by its first commit. The tables are the same whenever it is opened.
   *
   * @throws E_ROWS_VERSION if the generation was created with other tables.
   */
  generation(name: string, tables: readonly Table[]): Promise<Generation>;
  /** The generation that a group's readers read; null: none was promoted yet. */
  current(group: string): Promise<string | null>;
  /** In one transaction. @throws E_CURSOR_MOVED if something has moved: nothing is changed. */
  promote(promotion: Promotion): Promise<void>;
  /** Where a generation stands in each partition, whatever its tables are; empty if there is none. */
  cursors(generation: string): Promise<ReadonlyMap<number, Uint8Array>>;
  /** Names of the generations that have rows or a cursor, by code point. */
  generations(): Promise<readonly string[]>;
  /** Removes a generation and its rows; nothing happens if there is none. @throws E_ROWS_VERSION if it is current. */
  drop(name: string): Promise<void>;
  /** Bytes on disk (or in memory). */
  bytes(): Promise<number>;
  /**
   * Resolves when somebody may have committed or promoted since it was called, or with the signal; it may resolve without
   * reason. Only of stores that others write to: what a process writes itself it knows.
   */
  changed?(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};
