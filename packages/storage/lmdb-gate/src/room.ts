import { openRegularFile } from '@stemma/machine';
import { closeSync, fstatSync, ftruncateSync, readSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { integerAt } from './damage.ts';

/*
 * Where the disk has no room for a page that LMDB writes at a commit, lmdb-js notes the failure in a text that is longer
 * than the memory it took for it (`mdb_page_flush`: `malloc(100)`, `sprintf`), and the process is aborted then or later
 * (SIGABRT, SIGSEGV). So no commit may meet a full disk: before it, every page that it can write is in the file, and has
 * its blocks (docs/decisions/0112).
 */

/**
 * What a transaction wrote so far: entries that it put or removed, and their bytes in leaves. A value that is longer than half a page
 * stands in pages of its own, behind one another: `longs` of them have `longBytes`.
 */
type Written = { entries: number; bytes: number; longs: number; longBytes: number };

const NOTHING: Written = { entries: 0, bytes: 0, longs: 0, longBytes: 0 };

type Database = {
  putSync(key: Buffer, value: Buffer, ...rest: never[]): boolean | Promise<boolean>;
  removeSync(key: Buffer, ...rest: never[]): boolean;
};

/** The room in the file of an environment for what is written to it next. */
export type Room = {
  /** Counts what is put into a database, and removed from it. The database itself comes back. */
  readonly counted: <D>(database: D) => D;
  /**
   * Runs `fn` in a write transaction of the caller's, and ends when the file has room for all that it wrote.
   *
   * @throws ENOSPC, before LMDB has written anything
   */
  during<T>(fn: () => T): T;
  /** Makes room for so many entries with so many bytes. Nobody else may write meanwhile. @throws ENOSPC */
  ensure(entries: number, bytes: number): void;
  /** Makes room for so many pages. Nobody else may write meanwhile. @throws ENOSPC */
  ensurePages(pages: number): void;
  /** Whether the environment has no tree yet. Asked before LMDB reads the file. */
  isNew(): boolean;
  /** Takes back the room that was made here and that no page uses. Nobody else may have the environment open. */
  giveBack(): void;
  close(): void;
};

/** So many entries are put before room is looked for again: LMDB writes early when a transaction has 100,000 pages. */
const ENTRIES_AT_A_TIME = 5_000;
/** Room is made in steps of so many pages. */
const STEP = 4;
/** File systems that write a changed page to another place: pages that are there say nothing about room (btrfs, zfs, bcachefs). */
const NEVER_IN_PLACE = new Set([0x9123683e, 0x2fc12fc1, 0xca451a4e]);

/** @param path of the data file, which is there when room is first made */
export const openRoom = (path: string): Room => {
  let file: number | undefined;
  let size = 0;
  let inPlace = true;
  const head = Buffer.alloc(HEAD);
  const written: Written = { ...NOTHING };
  /** Until it is known, no value is long. */
  let half = Infinity;
  const open = (): number => {
    if (file !== undefined) return file;
    file = openRegularFile(path, 'write');
    inPlace = !NEVER_IN_PLACE.has(statfsSync(dirname(path)).type);
    if (inPlace) fillHoles(file);
    return file;
  };

  const ensure = (what: Written): void => makeRoom((state) => pagesFor(state, what));
  const makeRoom = (pagesIn: (state: State) => number): void => {
    const at = open();
    const state = readState(at, head);
    const { pageBytes } = state;
    half = pageBytes / 2;
    const pages = pagesIn(state);
    const needed = (state.pages + pages) * pageBytes;
    if (!inPlace) {
      const { bavail, bsize } = statfsSync(dirname(path));
      if (bavail * bsize < pages * pageBytes) throw noRoom(pages * pageBytes);
      return;
    }
    if (needed <= size) return;
    // Another process may have made it larger. Nobody makes it smaller while somebody has it open.
    size = fstatSync(at).size;
    if (needed <= size) return;
    const step = STEP * pageBytes;
    const end = Math.ceil(needed / step) * step;
    const { bavail, bsize } = statfsSync(dirname(path));
    if (bavail * bsize < end - size) throw noRoom(end - size);
    try {
      writeZeros(at, size, end);
    } catch (error) {
      ftruncateSync(at, size);
      throw error;
    }
    size = end;
  };

  const note = (key: number, value: number): void => {
    written.bytes += key;
    if (value <= half) written.bytes += value;
    else {
      written.longs++;
      written.longBytes += value;
    }
    if (++written.entries % ENTRIES_AT_A_TIME === 0) ensure(written);
  };

  return {
    counted: (database) => {
      const counting = database as Database;
      const put = counting.putSync.bind(counting);
      const remove = counting.removeSync.bind(counting);
      counting.putSync = (key, value, ...rest) => {
        note(key.length, value.length);
        return put(key, value, ...rest);
      };
      counting.removeSync = (key, ...rest) => {
        note(0, 0);
        return remove(key, ...rest);
      };
      return database;
    },
    during: (fn) => {
      Object.assign(written, NOTHING);
      const result = fn();
      if (written.entries > 0) ensure(written);
      return result;
    },
    ensure: (entries, bytes) => ensure({ ...NOTHING, entries, bytes }),
    ensurePages: (pages) => makeRoom(() => pages),
    isNew: () => readState(open(), head).trees === 0,
    giveBack: () => {
      if (size === 0 || file === undefined) return;
      const { pages, pageBytes } = readState(file, head);
      ftruncateSync(file, Math.min(size, pages * pageBytes));
      size = 0;
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};

/** What of a file's two first pages says how large an environment is. `pages`: in use, or free before one in use. */
type State = {
  readonly pages: number;
  readonly pageBytes: number;
  readonly freeList: number;
  readonly trees: number;
};

const HEAD = 160;
const EMPTY: State = { pages: 2, pageBytes: 4096, freeList: 0, trees: 0 };

const readState = (file: number, head: Buffer): State => {
  const at = (position: number): State => {
    if (readSync(file, head, 0, HEAD, position) < HEAD) return EMPTY;
    const [pages, pageBytes] = [integerAt(head, 144) + 1, head.readUInt32LE(48)];
    const freeList = integerAt(head, 56) + integerAt(head, 64) + integerAt(head, 72);
    return { pages, pageBytes, freeList, trees: integerAt(head, 128) };
  };
  const first = at(0);
  const second = at(first.pageBytes);
  return {
    pageBytes: first.pageBytes,
    trees: Math.max(first.trees, second.trees),
    pages: Math.max(first.pages, second.pages),
    // A damaged file may claim anything.
    freeList: Math.min(Math.max(first.freeList, second.freeList), Math.max(first.pages, second.pages)),
  };
};

/**
 * The most pages that a transaction writes to the end of the file: a copy of each leaf that it changes, of the branches
 * above, those into which full ones are split, those for what is new, and the list of all that becomes free.
 */
const pagesFor = (
  { pages, pageBytes, freeList }: State,
  { entries, bytes, longs, longBytes }: Written,
): number => {
  const leaves = Math.min(pages, entries);
  const branches = Math.min(Math.ceil(pages / 4), 3 * entries);
  // A page that was split is half full, but for one entry, which may be half a page long.
  const inLeaves = Math.ceil((4 * (bytes + 16 * entries)) / pageBytes);
  // Each begins behind the head of a page, and is the last in one.
  const added = inLeaves + Math.ceil((longBytes + 24 * longs) / pageBytes) + longs;
  const changed = 2 * leaves + branches + added + 8;
  return changed + 2 * freeList + Math.ceil((16 * changed) / pageBytes) + 8;
};

const noRoom = (bytes: number): Error =>
  Object.assign(new Error(`ENOSPC: the disk has no room for ${Math.ceil(bytes / 1024)} KiB more`), {
    code: 'ENOSPC',
  });

const CHUNK = Buffer.alloc(1 << 18);

const writeZeros = (file: number, from: number, to: number): void => {
  for (let at = from; at < to;) at += writeSync(file, CHUNK, 0, Math.min(CHUNK.length, to - at), at);
};

/** Of versions that made no room, and of copies: pages that were never written have no blocks. @throws ENOSPC */
const fillHoles = (file: number): void => {
  const { size, blocks } = fstatSync(file);
  // Not on Windows.
  if (blocks === 0 || blocks * 512 >= size) return;
  const chunk = Buffer.alloc(CHUNK.length);
  for (let at = 0; at < size;) {
    const got = readSync(file, chunk, 0, chunk.length, at);
    if (got === 0) return;
    for (let page = 0; page < got; page += 4096) {
      const bytes = chunk.subarray(page, Math.min(page + 4096, got));
      if (CHUNK.subarray(0, bytes.length).equals(bytes)) writeSync(file, bytes, 0, bytes.length, at + page);
    }
    at += got;
  }
};
