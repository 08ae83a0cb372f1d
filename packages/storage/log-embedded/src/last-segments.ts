import { fail } from '@stemma/errors';
import { syncFolder, writeAll, type Disk } from './disk.ts';
import type { PartitionEnd } from './lock-environment.ts';
import { partitionFolder, segmentPath } from './segments.ts';

/** The last segment of each partition, open for writing by the holder of the lock. */
export type LastSegments = {
  /** Writes into the segment that begins at `base`; makes it if missing. */
  readonly write: (partition: number, base: number, at: number, bytes: Buffer) => void;
  /** Makes room for so many bytes behind an end. @throws ENOSPC */
  readonly makeRoom: (partition: number, end: PartitionEnd, bytes: number) => void;
  /** @throws the system's error if the disk did not accept the data. */
  readonly sync: (partition: number) => void;
  /**
   * True if data follows an end, where zeros or nothing should be: a process was killed there. Checked every time, so
   * that no acknowledged record is overwritten, even if the recorded end is wrong.
   */
  readonly hasDataAt: (partition: number, end: PartitionEnd) => boolean;
  /** What is written to a file that nobody finds any more would be lost. @throws E_LOG_CLOSED */
  readonly refuseReplaced: (partition: number) => void;
  /** Closes the segment of a partition: the file may be removed. */
  readonly forget: (partition: number) => void;
  /** The first offsets of the open segments, by partition. */
  readonly bases: () => ReadonlyMap<number, number>;
  readonly close: () => void;
};

export const openLastSegments = (
  disk: Disk,
  {
    directory,
    segmentBytes,
    stepBytes,
  }: { readonly directory: string; readonly segmentBytes: number; readonly stepBytes: number },
): LastSegments => {
  const files = new Map<number, { readonly base: number; readonly file: number }>();
  const start = Buffer.alloc(1);

  const forget = (partition: number): void => {
    const known = files.get(partition);
    files.delete(partition);
    if (known) disk.close(known.file);
  };
  const pathOf = (partition: number, base: number): string =>
    segmentPath(partitionFolder(directory, partition), base);
  const segment = (partition: number, base: number): number => {
    const known = files.get(partition);
    if (known?.base === base) return known.file;
    // Syncs the group's data in this segment before the group continues in the next.
    if (known) disk.syncData(known.file);
    forget(partition);
    const folder = partitionFolder(directory, partition);
    const file = disk.open(segmentPath(folder, base), 'make');
    syncFolder(disk, folder);
    files.set(partition, { base, file });
    return file;
  };

  /** Writes zeros ahead in steps, so that a sync of records does not change the file's length. */
  const preallocate = (file: number, needed: number): void => {
    // Another process may have truncated the file when it closed.
    const has = disk.status(file).size;
    if (needed <= has) return;
    const size = Math.min(Math.ceil((needed + 1) / stepBytes) * stepBytes, Math.max(segmentBytes, needed));
    try {
      writeAll(disk, file, Buffer.alloc(size - has), has);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      // A whole step does not fit. What is needed may, and others need the rest.
      disk.cut(file, has);
    }
  };

  return {
    write: (partition, base, at, bytes) => {
      const file = segment(partition, base);
      preallocate(file, at + bytes.length);
      writeAll(disk, file, bytes, at);
    },
    makeRoom: (partition, { end, base }, bytes) => {
      const file = segment(partition, base);
      const needed = end - base + bytes;
      preallocate(file, needed);
      const has = disk.status(file).size;
      if (has >= needed) return;
      try {
        writeAll(disk, file, Buffer.alloc(needed - has), has);
      } finally {
        disk.cut(file, has);
      }
    },
    sync: (partition) => disk.syncData(files.get(partition)?.file ?? -1),
    hasDataAt: (partition, { end, base }) => {
      if (end > base && disk.exists(pathOf(partition, end))) return true;
      // A segment that is gone is not made again as zeros: where the records go on is found in the others.
      if (files.get(partition)?.base !== base && !disk.exists(pathOf(partition, base))) return end > base;
      return disk.read(segment(partition, base), start, 0, 1, end - base) === 1 && start[0] !== 0;
    },
    refuseReplaced: (partition) => {
      const known = files.get(partition);
      if (known === undefined) return;
      const path = pathOf(partition, known.base);
      if (disk.find(path)?.ino !== disk.status(known.file).ino)
        throw fail(
          'E_LOG_CLOSED',
          `the file ${path} was removed or replaced while the log was open: put it back and open the log again`,
        );
    },
    forget,
    bases: () => new Map([...files].map(([partition, { base }]) => [partition, base])),
    close: () => {
      for (const partition of [...files.keys()]) forget(partition);
    },
  };
};

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
