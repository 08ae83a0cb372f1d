import { StemmaError } from '@stemma/errors';
import { openGate } from '@stemma/lmdb-gate';
import { bootId, isAlive, syncFile } from '@stemma/machine';
import { open, type Database, type DatabaseOptions, type RootDatabase } from 'lmdb';
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chooseEpoch, readEpochState, writeEpochState } from './epoch.ts';

/** Keys and values are bytes. */
export type Bytes = Database<Buffer, Buffer>;

/** One lmdb environment of a directory: all writes go through `write`, which keeps the epoch's state true. */
export type LmdbEnvironment = {
  /** What the store knows of itself: generations, pointers, cursors, owners. */
  readonly own: Bytes;
  readonly file: string;
  /**
   * The tree of a table, shared by all generations; undefined if nothing was ever written to it, unless `create`.
   * A table has a tree of its own because lmdb fills pages when keys are appended at a tree's end, and leaves them half
   * empty when they are appended anywhere else. Not inside of `write`.
   */
  table(name: string, create: boolean): Bytes | undefined;
  /** How many trees were opened: opening one ends the state that is being read (`_commitReadTxn` in lmdb's `open.js`). */
  opened(): number;
  /** From here on reads see the newest commit, and go on seeing it until the caller waits. */
  refresh(): void;
  /**
   * Runs `fn` in a write transaction; what it wrote is undone if it throws. Processes take turns.
   *
   * @throws E_IO if lmdb or the disk refuses.
   */
  write<T>(fn: () => T): T;
  close(): Promise<void>;
};

let openers = 0;

/** LMDB's own mark, near the beginning of each of its first two pages: LMDB crashes the process where it is missing. */
const LMDB_MAGIC = Buffer.of(0xde, 0xc0, 0xef, 0xbe);
const PAGE = 4096;

/** @throws E_ROWS_DAMAGED if there is a file and it is not LMDB's */
const refuseOverwritten = (file: string): void => {
  if (!existsSync(file) || statSync(file).size === 0) return;
  const pages = Buffer.alloc(2 * PAGE);
  const opened = openSync(file, 'r');
  try {
    readSync(opened, pages, 0, pages.length, 0);
  } finally {
    closeSync(opened);
  }
  // Zeros only: another process is about to write its first pages.
  const overwritten = (page: Buffer): boolean =>
    !page.includes(LMDB_MAGIC) && page.some((byte) => byte !== 0);
  if (overwritten(pages.subarray(0, PAGE)) || overwritten(pages.subarray(PAGE)))
    throw new StemmaError('E_ROWS_DAMAGED', `${file} was overwritten: it does not begin as LMDB's files do`);
};

const BYTES = { keyEncoding: 'binary', encoding: 'binary' } as const;

export const openLmdbEnvironment = (directory: string, boot: string = bootId()): LmdbEnvironment => {
  const folder = chooseEpoch(directory, boot);
  const file = join(folder, 'rows.mdb');
  refuseOverwritten(file);
  const gate = openGate(join(folder, 'gate'));
  const root = gate.pass(() => open({ path: file, noSync: true, maxReaders: 512, maxDbs: 128, ...BYTES }));
  const own: Bytes = gate.pass(() => root.openDB({ name: 'own', ...BYTES }));
  const tables = new Map<string, Bytes>();
  const opener = openerKey(`${process.pid}.${++openers}`);
  let announced = false;
  let opened = 0;

  /** Before the first write of this opener, under the lock: from here on the epoch is unclean, durably. */
  const announce = (): void => {
    const state = readEpochState(folder);
    if (state === null || state.clean || state.boot !== boot) writeEpochState(folder, { boot, clean: false });
    own.putSync(opener, Buffer.from(boot));
  };

  const write = <T>(fn: () => T): T => {
    try {
      const result = gate.pass(() =>
        root.transactionSync(() => {
          if (!announced) announce();
          return fn();
        }),
      );
      announced = true;
      return result;
    } catch (error) {
      throw error instanceof StemmaError ? error : lmdbError(error);
    }
  };

  return {
    own,
    file,
    write,
    refresh: () => root.resetReadTxn(),
    opened: () => opened,
    table(name, create) {
      let table = tables.get(name);
      if (table !== undefined) return table;
      if (create) write(() => undefined);
      else if (!has(root, treeName(name))) return undefined;
      opened++;
      table = gate.pass(() => openTable(root, treeName(name), create));
      if (table !== undefined) tables.set(name, table);
      return table;
    },
    async close() {
      if (announced) {
        gate.pass(() => root.transactionSync(() => own.removeSync(opener)));
        // Under the lock nobody writes: what is synced now is all there is, if nobody else is at it.
        gate.pass(() =>
          root.transactionSync(() => {
            if (isAnybodyWriting(own, boot)) return;
            syncFile(file);
            writeEpochState(folder, { boot, clean: true });
          }),
        );
      }
      await root.close();
      await gate.close();
    },
  };
};

const treeName = (table: string): string => `rows ${table}`;

/** Whether there is a tree, without opening it. LMDB keeps the names of trees with a zero behind them. */
const has = (root: RootDatabase, name: string): boolean => {
  const key = Buffer.from(`${name}\0`);
  const [found] = root.getKeys({ start: key, limit: 1 }) as Iterable<Buffer>;
  return found !== undefined && key.equals(found);
};

const openTable = (root: RootDatabase, name: string, create: boolean): Bytes | undefined => {
  try {
    // `create` is lmdb's, though the library's types do not know it.
    const options: DatabaseOptions & { name: string; create: boolean } = { name, create, ...BYTES };
    return root.openDB(options);
  } catch (error) {
    if (!create && error instanceof Error && /not found/i.test(error.message)) return undefined;
    throw lmdbError(error);
  }
};

/** Keys of the environment's own begin with FF: no generation's do. */
const openerKey = (name: string): Buffer => Buffer.concat([Buffer.of(0xff), Buffer.from(name)]);

const isAnybodyWriting = (own: Bytes, boot: string): boolean => {
  for (const { key, value } of own.getRange({ start: openerKey('') }))
    if (value.toString() === boot && isAlive(Number.parseInt(key.subarray(1).toString(), 10))) return true;
  return false;
};

const lmdbError = (error: unknown): StemmaError =>
  new StemmaError(
    'E_IO',
    `the rows cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    {},
    { cause: error },
  );
