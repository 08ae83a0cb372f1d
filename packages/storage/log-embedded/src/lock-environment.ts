import {
  enterEnvironment,
  filesOfFile,
  findLmdbDamage,
  isInUse,
  nextFolder,
  openGateBeside,
  openRoom,
  type Entered,
} from '@stemma/lmdb-gate';
import { bootId, readRegularFile, replaceFileSync } from '@stemma/machine';
import { fail } from '@stemma/errors';
import { open, type RootDatabase } from 'lmdb';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The environment's entry for a partition: its end, and the first offset of its last segment. */
export type PartitionEnd = { readonly end: number; readonly base: number };

/**
 * The lock between processes, and the durable ends (record §6). Not synced: it is rebuilt when the machine was
 * restarted.
 */
export type LockEnvironment = {
  readonly end: (partition: number) => PartitionEnd | undefined;
  readonly boot: () => string | undefined;
  /** Runs an action while holding the lock; others see all that it puts when it ends, or nothing. */
  readonly locked: <T>(
    action: (put: (partition: number, end: PartitionEnd) => void, putBoot: () => void) => T,
  ) => T;
  /** False if somebody removed it. */
  readonly isCurrent: () => boolean;
  /** True if another process found it damaged, and put another in its place. */
  readonly isReplaced: () => boolean;
  readonly close: () => Promise<void>;
};

const BOOT = 'boot';
const READERS = 1024;
/** What an append changes at most: two leaves of ends, the page above, and the lists of free pages. */
const PAGES = 8;

const dataIn = (folder: string): string => join(folder, 'ends.mdb');

/**
 * Opens the lock of a log for this process. Its data can be found again in the segments: one that is damaged is put
 * aside, and an empty one taken (docs/decisions/0053).
 *
 * @param replaced told what was wrong, in a clause
 * @returns with `copyMark` in its folder, if the directory was copied while others wrote to it
 */
export const enterLock = (
  directory: string,
  replaced: (damage: string) => void,
): Entered<LockEnvironment> => {
  removeOld(directory);
  return enterEnvironment({
    directory: join(directory, 'lock'),
    filesIn: (folder) => filesOfFile(dataIn(folder), READERS),
    // It is small: all of it is always looked at.
    isKnown: () => false,
    open: (folder) => openLockEnvironment(folder),
    replaced,
    // Whoever finds the log's end says it: it may be another process.
    copied: () => undefined,
  });
};

/** Whether a process has the lock of a log open. */
export const isLockInUse = (directory: string): boolean => isInUse(join(directory, 'lock'));

/**
 * The lock in a folder that another thread of this process has entered.
 *
 * @throws E_LOG_BUSY if another one was put in its place: that thread enters it first
 */
export const enterLockBeside = (folder: string): Omit<Entered<LockEnvironment>, 'replace' | 'isShared'> => {
  if (existsSync(nextFolder(folder)))
    throw fail('E_LOG_BUSY', `the lock in ${folder} was replaced`, { folder });
  const gate = openGateBeside(folder);
  const opened = openLockEnvironment(folder);
  return { opened, folder, gate, isReplaced: opened.isReplaced, leave: () => gate.close() };
};

/** Another opening of the environment in a folder that this process has entered. */
export const openLockEnvironment = (folder: string): LockEnvironment => {
  const data = dataIn(folder);
  const database = openDatabase(data);
  const room = openRoom(data);
  const { ino } = statSync(data);
  const next = nextFolder(folder);
  return {
    end: (partition) => {
      database.resetReadTxn();
      const bytes = database.getBinaryFast(`end:${partition}`);
      return bytes?.length === 16 ? { end: bytes.readDoubleBE(0), base: bytes.readDoubleBE(8) } : undefined;
    },
    boot: () => {
      database.resetReadTxn();
      return database.getBinary(BOOT)?.toString('latin1');
    },
    locked: (action) =>
      database.transactionSync(() => {
        // Before anything is written to a segment: an end that cannot be noted would leave it there.
        room.ensurePages(PAGES);
        return action(
          (partition, { end, base }) => {
            const bytes = Buffer.alloc(16);
            bytes.writeDoubleBE(end, 0);
            bytes.writeDoubleBE(base, 8);
            void database.put(`end:${partition}`, bytes);
          },
          () => {
            void database.put(BOOT, Buffer.from(bootId(), 'latin1'));
          },
        );
      }),
    isCurrent: () => {
      const now = statSync(data, { throwIfNoEntry: false });
      return now?.ino === ino;
    },
    isReplaced: () => existsSync(next),
    close: async () => {
      await database.close();
      room.close();
    },
  };
};

/**
 * The ends that were noted last, read from a copy of the lock's data: where nothing can be written, the lock itself cannot be
 * opened. Undefined for each if there is no lock, or its data are damaged, or are being written.
 *
 * @param scratch a folder for the copy, which is removed
 */
export const notedEnds = async (
  directory: string,
  scratch: string,
): Promise<(partition: number) => PartitionEnd | undefined> => {
  const copy = join(scratch, 'ends.mdb');
  const found = new Map<number, PartitionEnd>();
  try {
    const lock = join(directory, 'lock');
    const newest = Math.max(
      ...readdirSync(lock)
        .filter((name) => /^\d+$/.test(name))
        .map(Number),
    );
    replaceFileSync(copy, readRegularFile(dataIn(join(lock, String(newest)))), { synced: false });
    if (findLmdbDamage(copy, 'all') !== null) return () => undefined;
    const database = openDatabase(copy);
    for (const { key, value } of database.getRange())
      if (key.startsWith('end:') && value.length === 16)
        found.set(Number(key.slice(4)), { end: value.readDoubleBE(0), base: value.readDoubleBE(8) });
    await database.close();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  } finally {
    for (const path of [copy, `${copy}-lock`]) rmSync(path, { force: true });
  }
  return (partition) => found.get(partition);
};

/** What versions before this one held the lock by: a process of one would notice that it is gone, and write no more. */
const removeOld = (directory: string): void => {
  rmSync(join(directory, 'lock', 'data.mdb'), { force: true });
  rmSync(join(directory, 'lock', 'lock.mdb'), { force: true });
  rmSync(join(directory, 'gate'), { recursive: true, force: true });
};

const openDatabase = (path: string): RootDatabase<Buffer, string> => {
  const database = open<Buffer, string>({
    path,
    encoding: 'binary',
    cache: false,
    noSync: true,
    // With it, other processes would see commits before they are complete (record §6).
    overlappingSync: false,
    maxReaders: READERS,
  });
  database.getBinary(BOOT);
  return database;
};
