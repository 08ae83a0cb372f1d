import { StemmaError } from '@stemma/errors';
import { enterEnvironment, filesOfFile, openGateBeside, openRoom, type Room } from '@stemma/lmdb-gate';
import { bootId, isAlive, syncFile } from '@stemma/machine';
import { open, type Database, type DatabaseOptions, type RootDatabase } from 'lmdb';
import { dirname, join } from 'node:path';
import { isAsClosed, isLost, noteClosed, readEpochState, writeEpochState } from './epoch.ts';

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
  /** The tables that have a tree. */
  tableNames(): string[];
  /**
   * How many trees were opened, or could not be: both end the state that is being read (`_commitReadTxn` in lmdb's `open.js`).
   */
  opened(): number;
  /** Whether somebody found these rows damaged and put empty ones in their place. */
  isReplaced(): boolean;
  /** Puts empty rows in the place of these, for all processes. The reason is a clause. @throws E_ROWS_UNWRITABLE */
  replace(damage: string): void;
  /** From here on reads see the newest commit, and go on seeing it until the caller waits. */
  refresh(): void;
  /**
   * Runs `fn` in a write transaction; what it wrote is undone if it throws. Processes take turns.
   *
   * @throws E_ROWS_UNWRITABLE if lmdb or the disk refuses.
   */
  write<T>(fn: () => T): T;
  close(): Promise<void>;
};

let openers = 0;

const BYTES = { keyEncoding: 'binary', encoding: 'binary' } as const;

export type LmdbEnvironmentOptions = {
  readonly directory: string;
  /** The id of this boot of the machine. */
  readonly boot?: string;
  /** Told why rows were put aside that LMDB could not have been given, in a clause: they are empty now. */
  readonly replaced: (damage: string) => void;
  /** Told that rows were put aside that somebody copied while others used them: they are empty now. */
  readonly copied: () => void;
};

/** @throws E_IO */
export const openLmdbEnvironment = (options: LmdbEnvironmentOptions): LmdbEnvironment => {
  try {
    return openEntered(options);
  } catch (error) {
    throw error instanceof StemmaError ? error : lmdbError(error, 'opened');
  }
};

const READERS = 512;

const openDatabases = (
  file: string,
): { readonly root: RootDatabase; readonly room: Room; readonly own: Bytes } => {
  const root = openRoot(file);
  const room = openRoom(file);
  try {
    return { root, room, own: openOwn(root, room) };
  } catch (error) {
    room.close();
    void root.close();
    throw error;
  }
};

const openEntered = ({
  directory,
  boot = bootId(),
  replaced,
  copied,
}: LmdbEnvironmentOptions): LmdbEnvironment => {
  const fileIn = (folder: string): string => join(folder, 'rows.mdb');
  const entered = enterEnvironment({
    directory,
    boot,
    filesIn: (folder) => filesOfFile(fileIn(folder), READERS),
    isOutdated: (folder) => isLost(folder, boot),
    isKnown: (folder) => isAsClosed(folder, fileIn(folder), boot),
    open: (folder) => openDatabases(fileIn(folder)),
    replaced,
    copied,
    distrustOpeners: true,
  });
  const { folder, gate } = entered;
  const { root, room, own } = entered.opened;
  const file = fileIn(folder);
  const tables = new Map<string, Bytes>();
  const refused = new Set<string>();
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
        root.transactionSync(() =>
          room.during(() => {
            if (!announced) announce();
            return fn();
          }),
        ),
      );
      announced = true;
      return result;
    } catch (error) {
      throw error instanceof StemmaError ? error : lmdbError(error, 'written');
    }
  };

  const close = (): void => {
    gate.pass(() => root.transactionSync(() => room.during(() => own.removeSync(opener))));
    // Under the lock nobody writes: what is synced now is all there is, if nobody else is at it.
    gate.pass(() =>
      root.transactionSync(() => {
        if (isAnybodyWriting(own, boot)) return;
        syncFile(file);
        writeEpochState(folder, { boot, clean: true });
      }),
    );
  };

  return {
    own,
    file,
    write,
    isReplaced: () => entered.isReplaced(),
    replace: (damage) => {
      try {
        entered.replace(damage);
      } catch (error) {
        throw lmdbError(error, 'written');
      }
    },
    refresh: () => root.resetReadTxn(),
    opened: () => opened,
    tableNames: () => tableNamesIn(root),
    table(name, create) {
      let table = tables.get(name);
      if (table !== undefined) return table;
      if (create) write(() => undefined);
      else if (!has(root, treeName(name))) return undefined;
      // A tree that cannot be opened is counted once: who counted it again and again would read for ever.
      if (!refused.has(name)) opened++;
      refused.add(name);
      table = gate.pass(() => {
        if (create) makeRoomForTree(room);
        return openTable(root, treeName(name), create);
      });
      if (table !== undefined && refused.delete(name)) tables.set(name, room.counted(table));
      return table;
    },
    async close() {
      try {
        // Rows that were replaced are nobody's any more.
        if (announced && !entered.isReplaced()) close();
      } catch {
        // A full disk: the next opener reads the file through, and begins anew if the machine ends before.
      }
      await root.close();
      gate.pass(() => {
        if (entered.isShared()) return;
        room.giveBack();
        noteClosed(folder, file, boot);
      });
      room.close();
      await entered.leave();
    },
  };
};

/** What is read of an environment that another thread of this process has open. */
export type ReadEnvironment = Pick<LmdbEnvironment, 'own' | 'table' | 'opened' | 'refresh' | 'close'>;

/**
 * Opens an environment once more, to read it. Only while the thread that entered it has it open, and one thread at a
 * time: LMDB keeps the handles of trees for the whole process.
 */
export const openReadEnvironment = (file: string): ReadEnvironment => openAgain(file);

const openAgain = (
  file: string,
  counted: Room['counted'] = (database) => database,
): ReadEnvironment & { readonly root: RootDatabase } => {
  const root = openRoot(file);
  const tables = new Map<string, Bytes>();
  const refused = new Set<string>();
  let opened = 0;
  return {
    root,
    own: counted(root.openDB<Buffer, Buffer>({ name: 'own', ...BYTES })),
    table(name) {
      let table = tables.get(name);
      if (table !== undefined || !has(root, treeName(name))) return table;
      if (!refused.has(name)) opened++;
      refused.add(name);
      table = openTable(root, treeName(name), false);
      if (table !== undefined && refused.delete(name)) tables.set(name, counted(table));
      return table;
    },
    opened: () => opened,
    refresh: () => root.resetReadTxn(),
    close: () => root.close(),
  };
};

/**
 * The same to write it too, after the thread that entered it has announced that rows are written.
 *
 * @param inside calls `fn`, so that the process does not end meanwhile
 */
export const openWriteEnvironment = (
  file: string,
  inside: <T>(fn: () => T) => T,
): ReadEnvironment & Pick<LmdbEnvironment, 'write'> => {
  const room = openRoom(file);
  const { root, ...environment } = openAgain(file, room.counted);
  const gate = openGateBeside(dirname(file));
  return {
    ...environment,
    write(fn) {
      try {
        return inside(() => gate.pass(() => root.transactionSync(() => room.during(fn))));
      } catch (error) {
        throw error instanceof StemmaError ? error : lmdbError(error, 'written');
      }
    },
    async close() {
      await root.close();
      await gate.close();
      room.close();
    },
  };
};

/** The tree of the store's own records, made if it is missing. Inside of the gate. */
const openOwn = (root: RootDatabase, room: Room): Bytes => {
  if (room.isNew()) makeRoomForTree(room);
  return room.counted(root.openDB<Buffer, Buffer>({ name: 'own', ...BYTES }));
};

/** LMDB itself commits a tree when it is made. */
const makeRoomForTree = (room: Room): void => room.ensure(4, 1024);

const openRoot = (file: string): RootDatabase =>
  open({ path: file, noSync: true, maxReaders: READERS, maxDbs: 128, ...BYTES });

const TREE = 'rows ';
const treeName = (table: string): string => TREE + table;

const tableNamesIn = (root: RootDatabase): string[] => {
  const range = { start: Buffer.from(TREE), end: Buffer.from(`${TREE}\xff`) };
  const names = [...(root.getKeys(range) as Iterable<Buffer>)].map((key) => key.toString());
  return names.map((name) => name.slice(TREE.length).replace(/\0$/, ''));
};

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
    throw lmdbError(error, create ? 'written' : 'opened');
  }
};

/** Keys of the environment's own begin with FF: no generation's do. */
const openerKey = (name: string): Buffer => Buffer.concat([Buffer.of(0xff), Buffer.from(name)]);

const isAnybodyWriting = (own: Bytes, boot: string): boolean => {
  for (const { key, value } of own.getRange({ start: openerKey('') }))
    if (value.toString() === boot && isAlive(Number.parseInt(key.subarray(1).toString(), 10))) return true;
  return false;
};

const lmdbError = (error: unknown, what: 'written' | 'opened'): StemmaError =>
  new StemmaError(
    what === 'opened' ? 'E_IO' : 'E_ROWS_UNWRITABLE',
    `the rows cannot be ${what}: ${error instanceof Error ? error.message : String(error)}`,
    {},
    { cause: error },
  );
