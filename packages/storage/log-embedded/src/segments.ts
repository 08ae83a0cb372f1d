import { sep } from 'node:path';
import type { Disk } from './disk.ts';

/** A segment file is named by the offset of its first entry. */
const NAME = /^(\d{16})\.seg$/;

// Each append asks for both several times, and `join` makes 5 KB of garbage of that.
export const partitionFolder = (directory: string, partition: number): string =>
  `${directory}${sep}${partition}`;

export const segmentPath = (folder: string, base: number): string =>
  `${folder}${sep}${String(base).padStart(16, '0')}.seg`;

/** The first offsets of a partition's segments, ascending. */
export const segmentBases = (disk: Disk, folder: string): number[] =>
  disk
    .list(folder)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

/** The number of partitions in a directory: 0 if the log was never made. */
export const partitionsIn = (disk: Disk, directory: string): number => {
  const folders = new Set(disk.list(directory).filter((name) => /^(0|[1-9]\d*)$/.test(name)));
  // Folder 0 is made last: without it, making the log was interrupted.
  if (!folders.has('0')) return 0;
  let count = 0;
  while (folders.has(String(count))) count++;
  return count;
};

/** Segments opened for reading; the least recently used is closed when more than `limit` are open. */
export type OpenFiles = {
  readonly disk: Disk;
  readonly get: (folder: string, base: number) => number;
  readonly close: () => void;
};

export const openFiles = (disk: Disk, limit = 32): OpenFiles => {
  const files = new Map<string, number>();
  return {
    disk,
    get: (folder, base) => {
      const name = `${base} ${folder}`;
      const known = files.get(name);
      if (known !== undefined) {
        files.delete(name);
        files.set(name, known);
        return known;
      }
      for (const [old, file] of files) {
        if (files.size < limit) break;
        disk.close(file);
        files.delete(old);
      }
      const file = disk.open(segmentPath(folder, base), 'read');
      files.set(name, file);
      return file;
    },
    close: () => {
      for (const file of files.values()) disk.close(file);
      files.clear();
    },
  };
};
