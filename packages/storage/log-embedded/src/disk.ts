import { openFolder, openRegularFile, refuseIrregular } from '@stemma/machine';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * What the log asks of a disk. Every call may throw the system's error; `read` and `write` may do less than they were
 * asked to. Tests put a simulated disk in its place.
 */
export type Disk = {
  /** `make`: for reading and writing, made for its owner alone if missing, never emptied. Throws for what is no regular file. */
  readonly open: (path: string, how: 'read' | 'write' | 'make') => number;
  /** The list of a folder's files, to be synced. */
  readonly openFolder: (path: string) => number;
  readonly close: (file: number) => void;
  readonly read: (file: number, into: Buffer, at: number, length: number, position: number) => number;
  readonly write: (file: number, bytes: Buffer, at: number, length: number, position: number) => number;
  readonly status: (file: number) => FileStatus;
  /** Shortens a file. */
  readonly cut: (file: number, size: number) => void;
  /** Returns when what was written to the file is durable, and with it its length. */
  readonly syncData: (file: number) => void;
  /** The same, of a file or of the list of a folder's files. */
  readonly sync: (file: number) => void;
  readonly list: (folder: string) => string[];
  readonly remove: (path: string) => void;
  readonly rename: (path: string, to: string) => void;
  readonly exists: (path: string) => boolean;
  /** Throws for what is no regular file. */
  readonly find: (path: string) => FileStatus | undefined;
  /** Makes a folder for its owner alone, whose parent is there; false if it is there already. */
  readonly makeFolder: (path: string) => boolean;
};

/** A file's number and its size in bytes. */
export type FileStatus = { readonly ino: number; readonly size: number };

/** The disk of this machine. */
export const thisDisk: Disk = {
  open: openRegularFile,
  openFolder,
  close: closeSync,
  read: readSync,
  write: writeSync,
  status: (file) => fstatSync(file),
  cut: ftruncateSync,
  syncData: fdatasyncSync,
  sync: fsyncSync,
  list: (folder) => readdirSync(folder),
  remove: (path) => {
    rmSync(path);
  },
  rename: renameSync,
  exists: existsSync,
  find: refuseIrregular,
  makeFolder: (path) => {
    try {
      mkdirSync(path, { mode: 0o700 });
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    }
  },
};

export const writeAll = (disk: Disk, file: number, bytes: Buffer, at: number): void => {
  for (let done = 0; done < bytes.length;)
    done += disk.write(file, bytes, done, bytes.length - done, at + done);
};

/**
 * The bytes of a file from `at` on, fewer than `size` if it ends before.
 *
 * @param into room for them; default: a buffer of their own
 */
export const readAll = (
  disk: Disk,
  file: number,
  size: number,
  at: number,
  into: Buffer = Buffer.allocUnsafeSlow(Math.max(0, size)),
): Buffer => {
  const bytes = into.subarray(0, Math.max(0, size));
  let got = 0;
  while (got < bytes.length) {
    const more = disk.read(file, bytes, got, bytes.length - got, at + got);
    if (more === 0) break;
    got += more;
  }
  return bytes.subarray(0, got);
};

/** Makes the list of a folder's files durable. */
export const syncFolder = (disk: Disk, folder: string): void => {
  try {
    closing(disk, disk.openFolder(folder), (file) => disk.sync(file));
  } catch (error) {
    // A folder above the log may be another's, who lets nobody list it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error;
  }
};

/** Makes a folder and those above it, so that they are still there after a power loss. */
export const makeFolders = (disk: Disk, path: string): void => {
  if (disk.exists(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolders(disk, above);
  if (disk.makeFolder(path)) syncFolder(disk, above);
};

export const withFile = <T>(
  disk: Disk,
  path: string,
  how: 'read' | 'write' | 'make',
  fn: (file: number) => T,
): T => closing(disk, disk.open(path, how), fn);

const closing = <T>(disk: Disk, file: number, fn: (file: number) => T): T => {
  try {
    return fn(file);
  } finally {
    disk.close(file);
  }
};
