import { fail } from '@stemma/errors';
import { hash } from 'node:crypto';
import { readAll, syncFolder, withFile, writeAll, type Disk } from './disk.ts';
import type { PartitionEnd } from './lock-environment.ts';
import type { JobMachine } from './log-machine.ts';
import { readSegmentRange } from './read-segments.ts';
import { openFiles, segmentBases, segmentPath } from './segments.ts';

/**
 * The end of a partition, found again from its segments: after the last complete record, and not before `known`, an end
 * that was durable. Bytes after it are cut; other bytes that do not verify stay, as damage, and so do missing ones.
 */
export const findEnd = (
  machine: Pick<JobMachine, 'disk' | 'isWhole'>,
  folder: string,
  known: number,
): PartitionEnd => {
  const { disk } = machine;
  const found = lookForEnd(machine, folder, known);
  const { end, base } = found;
  if (segmentBases(disk, folder).at(-1) !== base) return found;
  const path = segmentPath(folder, base);
  truncateFile(disk, path, end - base);
  if (end > known) {
    makeDurable(disk, path, known > base ? known - base : 0, end - base);
    // Whoever made the file may have been killed before its name was durable.
    syncFolder(disk, folder);
  }
  return found;
};

/** The same, where nothing is written. @throws E_LOG_GONE */
export const lookForEnd = (
  { disk, isWhole }: Pick<JobMachine, 'disk' | 'isWhole'>,
  folder: string,
  known: number,
): PartitionEnd => {
  const base = segmentBases(disk, folder).at(-1);
  if (base === undefined) {
    if (known > 0) throw fail('E_LOG_GONE', `every segment file in ${folder} is missing`);
    return { end: 0, base: 0 };
  }
  const size = disk.find(segmentPath(folder, base))?.size ?? 0;
  // The newest records are gone. Their place stays as it is, as damage, and others go into a segment after it.
  if (base + size < known) return { end: known, base: known };
  const files = openFiles(disk, 1);
  let end = Math.max(base, known);
  try {
    for (let at = end; at < base + size;) {
      const records = readSegmentRange(
        files,
        { folder, base, end: base + size },
        at,
        1024 * 1024,
        () => undefined,
      );
      for (const { bytes, damaged, next } of records) {
        if (!damaged && isWhole(bytes)) end = next;
        at = next;
      }
    }
  } finally {
    files.close();
  }
  return { end, base };
};

/**
 * Makes a part of a file durable that perhaps no process synced. It is written again first: after a sync that failed the
 * system counts pages as written that the disk does not have, and a second sync says nothing.
 */
const makeDurable = (disk: Disk, path: string, from: number, to: number): void => {
  withFile(disk, path, 'write', (file) => {
    for (let at = from; at < to; at += COPIED) {
      const bytes = readAll(disk, file, Math.min(COPIED, to - at), at);
      writeAll(disk, file, bytes, at);
    }
    disk.sync(file);
  });
};

const COPIED = 1024 * 1024;

/** True if a record ends with the SHA-256 of its other bytes. */
export const endsWithItsHash = (record: Uint8Array): boolean => {
  const length = record.length - 32;
  return length > 0 && hash('sha256', record.subarray(0, length), 'buffer').equals(record.subarray(length));
};

/** Shortens a segment file durably; one that is shorter already stays as it is. */
export const truncateFile = (disk: Disk, path: string, size: number): void => {
  withFile(disk, path, 'write', (file) => {
    if (disk.status(file).size <= size) return;
    disk.cut(file, size);
    disk.sync(file);
  });
};
