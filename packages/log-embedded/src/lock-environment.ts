import { bootId } from '@stemma/machine';
import { open, type RootDatabase } from 'lmdb';
import { closeSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
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
  /** False if another environment was put in its place. */
  readonly isCurrent: () => boolean;
  readonly close: () => Promise<void>;
};

const BOOT = 'boot';

export const openLockEnvironment = (directory: string): LockEnvironment => {
  const path = join(directory, 'lock');
  const database = openOrReplace(path);
  const data = join(path, 'data.mdb');
  const { ino } = statSync(data);
  return {
    end: (partition) => {
      database.resetReadTxn();
      const bytes = database.getBinary(`end:${partition}`);
      return bytes?.length === 16 ? { end: bytes.readDoubleBE(0), base: bytes.readDoubleBE(8) } : undefined;
    },
    boot: () => {
      database.resetReadTxn();
      return database.getBinary(BOOT)?.toString('latin1');
    },
    locked: (action) =>
      database.transactionSync(() =>
        action(
          (partition, { end, base }) => {
            const bytes = Buffer.alloc(16);
            bytes.writeDoubleBE(end, 0);
            bytes.writeDoubleBE(base, 8);
            void database.put(`end:${partition}`, bytes);
          },
          () => {
            void database.put(BOOT, Buffer.from(bootId(), 'latin1'));
          },
        ),
      ),
    isCurrent: () => {
      const now = statSync(data, { throwIfNoEntry: false });
      return now?.ino === ino;
    },
    close: () => database.close(),
  };
};

/** The data of an environment can be found again in the segments; an unreadable one is moved aside. */
const openOrReplace = (path: string): RootDatabase<Buffer, string> => {
  const moveAside = (): void =>
    renameSync(path, `${path}.unreadable-${process.pid}-${process.hrtime.bigint()}`);
  if (!hasLmdbMagic(join(path, 'data.mdb'))) moveAside();
  try {
    return openDatabase(path);
  } catch {
    moveAside();
    return openDatabase(path);
  }
};

/** LMDB's own mark, near the beginning of each of its first two pages. LMDB itself may crash where it is missing. */
const LMDB_MAGIC = Buffer.of(0xde, 0xc0, 0xef, 0xbe);

const hasLmdbMagic = (data: string): boolean => {
  const size = statSync(data, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return true;
  const head = Buffer.alloc(64);
  const file = openSync(data, 'r');
  readSync(file, head, 0, head.length, 0);
  closeSync(file);
  return head.includes(LMDB_MAGIC);
};

const openDatabase = (path: string): RootDatabase<Buffer, string> => {
  mkdirSync(path, { recursive: true });
  const database = open<Buffer, string>({
    path,
    encoding: 'binary',
    cache: false,
    noSync: true,
    // With it, other processes would see commits before they are complete (record §6).
    overlappingSync: false,
    maxReaders: 1024,
  });
  database.getBinary(BOOT);
  return database;
};
