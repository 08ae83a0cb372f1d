import type { Key, KeyCell, KeyOf, RowOf, RowReader, Table, Value, ValueOf } from './table.ts';

/** A row to write, or, with `value` null, to remove. */
export type RowChange = { readonly table: Table; readonly key: Key; readonly value: Value | null };

/** What a projector commits at once: its new cursor, and the rows that follow from the frames up to it. */
export type RowBatch = {
  readonly partition: number;
  /** The cursor when the batch began (opaque bytes; null: there was none); compared before anything is written. */
  readonly expected: Uint8Array | null;
  readonly cursor: Uint8Array;
  readonly changes: readonly RowChange[];
  /** More changes, after `changes`, as `encodeChanges` gives them for the tables of the generation. The store may write into them. */
  readonly encoded?: readonly Uint8Array[];
};

/**
 * The rows of read models that are projected together, with their cursor. Generations are independent: one is read
 * while the next is built.
 */
export type Generation = {
  readonly name: string;
  readonly tables: readonly Table[];
  /**
   * The result of `fn`. All its reads see one consistent state: a commit, with everything before it. `fn` is
   * synchronous and changes nothing: it is called again after missing rows were fetched.
   */
  read<T>(fn: (view: GenerationView) => T): Promise<T>;
  /**
   * Like `read`, if this generation is the one that the group's readers read in that very state; else undefined. Not there: the
   * store has to be asked apart, before and after.
   */
  readIfCurrent?<T>(
    group: string,
    fn: (view: GenerationView) => T,
  ): Promise<{ readonly value: T } | undefined>;
  /** Like `read`, for whole tables: one state too, but `fn` may wait for its reads (and for nothing else). */
  scan<T>(fn: (scan: Scan) => Promise<T>): Promise<T>;
  /**
   * Rows for a reader that continues from a cursor and commits: not one state, but `commit` refuses if the cursor has
   * moved meanwhile. Sees the commits of its own generation.
   *
   * @param basis the caller's cursor, on which it will commit: rows read and committed there stay cached.
   */
  source(basis?: ReadBasis): RowSource;
  /**
   * The cursor that this process read or committed last in a partition, without asking the store; undefined if it does not
   * know. Another process may have moved it since, or dropped the generation: `commit` refuses then, and the next one
   * is read. Only in stores where each reading takes a request.
   */
  knownCursor?(partition: number): Uint8Array | undefined;
  /**
   * Writes all of the batch or nothing. It survives the end of the process; the adapter defines whether it survives a
   * crash of the machine: if not, the store detects this when it is opened and starts empty.
   *
   * @throws E_CURSOR_MOVED if the cursor is not the expected one: nothing is written.
   */
  commit(batch: RowBatch): Promise<void>;
};

/** A partition's cursor that the caller read from a view, not from a source. */
export type ReadBasis = { readonly partition: number; readonly cursor: Uint8Array | null };

export type GenerationView = RowReader & {
  /** The committed cursor of a partition; null before the first commit. */
  cursor(partition: number): Uint8Array | null;
  partitions(): readonly number[];
  /** How many rows of a table an owner has; none of them is looked at. */
  count(table: Table, owner: KeyCell): number;
  /**
   * While it stays the same, no row of a table was removed, by whomever; it may be some seconds late, and change without reason.
   * Not there: the store does not know.
   */
  removals?(table: Table): string | undefined;
};

/** One state of a generation, read in pieces. */
export type Scan = {
  cursor(partition: number): Promise<Uint8Array | null>;
  partitions(): Promise<readonly number[]>;
  get<T extends Table>(table: T, key: KeyOf<T>): Promise<ValueOf<T> | undefined>;
  /** Every row of a table once, in an order that the adapter chooses. */
  entries<T extends Table>(table: T): AsyncIterable<RowOf<T>>;
};

/** Rows that may have to be fetched: a read outside of `using` throws `Missing` for rows that are not cached. */
export type RowSource = RowReader & {
  /** The result of `fn` once all rows that it reads are cached: it is called again after each fetch. */
  using<T>(fn: () => T | Promise<T>): Promise<T>;
};

/** Makes a generation the current one, if no cursor has moved meanwhile. */
export type Promotion = {
  readonly group: string;
  /** The generation that is current now; null: there is none. */
  readonly from: string | null;
  readonly to: string;
  /** Cursors that must be unchanged. */
  readonly unmoved: readonly {
    readonly generation: string;
    readonly partition: number;
    readonly cursor: Uint8Array | null;
  }[];
};

/** Where a thread finds the rows that this one has open, for as long as this one has them open. It can be sent there. */
export type RowsAddress = { readonly kind: 'lmdb'; readonly file: string; readonly generation: string };

/** A store of rows. Several processes may have the same store open. */
export type RowStore = {
  /**
   * A generation by its name; its first commit creates it. It must always be opened with the same tables.
   *
   * @throws E_ROWS_VERSION if the generation was created with other tables.
   */
  generation(name: string, tables: readonly Table[]): Promise<Generation>;
  /** The generation that a group's readers read; null: none was promoted yet. */
  current(group: string): Promise<string | null>;
  /** Promotes in one transaction. @throws E_CURSOR_MOVED if a cursor has moved: nothing is changed. */
  promote(promotion: Promotion): Promise<void>;
  /** The cursor of a generation in each partition, whatever its tables are; empty if it does not exist. */
  cursors(generation: string): Promise<ReadonlyMap<number, Uint8Array>>;
  /** Names of the generations that have rows or a cursor, by code point. */
  generations(): Promise<readonly string[]>;
  /** Removes a generation and its rows, if it exists. @throws E_ROWS_VERSION if it is current. */
  drop(name: string): Promise<void>;
  /**
   * Throws away a generation that was found damaged, with the pointers to it: there is nothing then until it is built again.
   * A store may throw away more, where a file that holds a damaged row may hold others. False if somebody else has
   * done it meanwhile.
   *
   * @param generation as the error named it
   */
  discard(generation: string): Promise<boolean>;
  /**
   * Throws all rows away so that no byte of them is left on the disk, also for other processes that have them open. Not
   * there: the store cannot.
   */
  destroy?(): Promise<void>;
  /**
   * How another thread of this process reads the rows of a generation, and commits some if `commits` is true. Not there: it
   * cannot.
   */
  address?(generation: string, commits?: boolean): RowsAddress;
  /** Bytes on disk (or in memory). */
  bytes(): Promise<number>;
  /**
   * Resolves when another process may have committed or promoted since the call, or with the signal; it may resolve
   * without reason. Only in stores that other processes write to: a process knows its own writes.
   */
  changed?(signal: AbortSignal): Promise<void>;
  /**
   * The same for a process that has discarded rows: whoever folds them learns of it before there is more to fold. Calls that
   * follow each other at once miss none.
   */
  discarded?(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};
