import { open } from 'lmdb';
import {
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAlive, openRegularFile } from '@stemma/machine';
import { findLmdbDamage } from './find-damage.ts';

/** Where LMDB keeps an environment. */
export type LmdbFiles = {
  /** As LMDB is given it. */
  readonly path: string;
  readonly data: string;
  readonly lock: string;
  /** Transactions that may read at a time: the lock file has room for each. */
  readonly readers: number;
};

/** The files of an environment that has a folder of its own. */
export const filesOfFolder = (path: string, readers: number): LmdbFiles => ({
  path,
  data: join(path, 'data.mdb'),
  lock: join(path, 'lock.mdb'),
  readers,
});

/** The files of an environment that is one file with its lock beside it. */
export const filesOfFile = (path: string, readers: number): LmdbFiles => ({
  path,
  data: path,
  lock: `${path}-lock`,
  readers,
});

/** LMDB counts its readers by the length of the file: the part before them is less than 1,024 bytes, each has 64. */
const lockFileBytes = (readers: number): number => Math.ceil((1024 + readers * 64) / 4096) * 4096;

/**
 * Makes an empty environment, whole. LMDB would only set the length of the lock file, and where the disk has no room
 * for a part that is written first later, the process is killed (SIGBUS); so zeros are written here.
 *
 * @throws the system's error, ENOSPC among them
 */
export const makeLmdb = ({ path, data, lock, readers }: LmdbFiles): void => {
  if (data !== path) mkdirSync(path, { mode: 0o700 });
  closeSync(openRegularFile(data, 'new'));
  const file = openRegularFile(lock, 'new');
  try {
    const zeros = Buffer.alloc(lockFileBytes(readers));
    for (let done = 0; done < zeros.length;) done += writeSync(file, zeros, done, zeros.length - done, done);
  } finally {
    closeSync(file);
  }
  void open({ path, noSync: true, maxReaders: readers, maxDbs: 1 }).close();
};

/**
 * What is wrong with an environment that was made by {@link makeLmdb}, in a clause; null if LMDB can map it. Nobody may
 * write to it meanwhile. As {@link findLmdbDamage}. The lock file is not opened here: closing it would release the locks
 * that LMDB has on it in this process.
 */
export const findDamageIn = ({ data, lock, readers }: LmdbFiles, depth: 'head' | 'all'): string | null => {
  const locks = statSync(lock, { throwIfNoEntry: false });
  if (locks === undefined) return `${basename(lock)} is missing`;
  if (!locks.isFile() || locks.size !== lockFileBytes(readers))
    return `${basename(lock)} has ${locks.size} bytes, not ${lockFileBytes(readers)}`;
  // Not on Windows.
  if (locks.blocks > 0 && locks.blocks * 512 < locks.size) return `${basename(lock)} has holes`;
  const stat = statSync(data, { throwIfNoEntry: false });
  if (stat === undefined) return `${basename(data)} is missing`;
  if (stat.size === 0) return `${basename(data)} is empty`;
  const damage = findLmdbDamage(data, depth);
  return damage === null ? null : `${basename(data)}: ${damage}`;
};

let count = 0;

/**
 * Makes a folder whole or not at all: who sees it sees all that `fill` puts into it. Does nothing if it is there.
 *
 * @throws the system's error, and what `fill` throws
 */
export const makeWhole = (folder: string, fill: (folder: string) => void): void => {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    const maker = /^\.new-(\d+)-/.exec(name)?.[1];
    if (maker !== undefined && !isAlive(Number(maker)))
      rmSync(join(parent, name), { recursive: true, force: true });
  }
  const temporary = join(parent, `.new-${process.pid}-${++count}-${process.hrtime.bigint()}`);
  try {
    mkdirSync(temporary, { mode: 0o700 });
    fill(temporary);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process was first.
    if (!ALREADY.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
};

const ALREADY = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES']);
