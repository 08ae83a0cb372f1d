import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import type { PartitionEnd } from './lock-environment.ts';
import { partitionFolder, segmentPath } from './segments.ts';

/** The last segment of each partition, open for writing by whoever holds the lock. */
export type LastSegments = {
  /** Writes into the segment that begins at `base`, which is made if it is not there. */
  readonly write: (partition: number, base: number, at: number, bytes: Buffer) => void;
  /** @throws what the system says if the disk did not take it. */
  readonly sync: (partition: number) => void;
  /**
   * True if something was written at an end, where otherwise are zeros or nothing: somebody was killed there. It is looked
   * at every time, so that nothing that was acknowledged is written over, whatever becomes of the end that is noted.
   */
  readonly hasDataAt: (partition: number, end: PartitionEnd) => boolean;
  /** Closes the one of a partition: the file may go. */
  readonly forget: (partition: number) => void;
  /** Where those that are open begin, by partition. */
  readonly bases: () => ReadonlyMap<number, number>;
  readonly close: () => void;
};

export const openLastSegments = ({
  directory,
  segmentBytes,
  stepBytes,
}: {
  readonly directory: string;
  readonly segmentBytes: number;
  readonly stepBytes: number;
}): LastSegments => {
  const files = new Map<number, { readonly base: number; readonly file: number }>();
  const start = Buffer.alloc(1);

  const forget = (partition: number): void => {
    const known = files.get(partition);
    files.delete(partition);
    if (known) closeSync(known.file);
  };
  const segment = (partition: number, base: number): number => {
    const known = files.get(partition);
    if (known?.base === base) return known.file;
    // What a group has written there before it went on in the next one.
    if (known) fdatasyncSync(known.file);
    forget(partition);
    const folder = partitionFolder(directory, partition);
    // Read and write, made if it is not there.
    const file = openSync(segmentPath(folder, base), 0o102);
    syncFolder(folder);
    files.set(partition, { base, file });
    return file;
  };

  /** Writes zeros ahead in steps, so that syncing a record changes no length of a file. */
  const preallocate = (file: number, needed: number): void => {
    // Another process may have cut it when it closed.
    const has = fstatSync(file).size;
    if (needed <= has) return;
    const size = Math.min(Math.ceil((needed + 1) / stepBytes) * stepBytes, Math.max(segmentBytes, needed));
    writeAll(file, Buffer.alloc(size - has), has);
  };

  return {
    write: (partition, base, at, bytes) => {
      const file = segment(partition, base);
      preallocate(file, at + bytes.length);
      writeAll(file, bytes, at);
    },
    sync: (partition) => fdatasyncSync(files.get(partition)?.file ?? -1),
    hasDataAt: (partition, { end, base }) => {
      if (end > base && existsSync(segmentPath(partitionFolder(directory, partition), end))) return true;
      return readSync(segment(partition, base), start, 0, 1, end - base) === 1 && start[0] !== 0;
    },
    forget,
    bases: () => new Map([...files].map(([partition, { base }]) => [partition, base])),
    close: () => {
      for (const partition of [...files.keys()]) forget(partition);
    },
  };
};

const writeAll = (file: number, bytes: Buffer, at: number): void => {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, at + done);
};

/** Makes durable which files a folder has. */
export const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
};
