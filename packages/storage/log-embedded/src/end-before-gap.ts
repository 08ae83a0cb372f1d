import { join } from 'node:path';
import { readAll, syncFolder, withFile, writeAll } from './disk.ts';
import { HEADER_BYTES, MAX_KEY_BYTES, MAX_RECORD_BYTES } from './entry.ts';
import { truncateFile } from './find-end.ts';
import type { JobMachine } from './log-machine.ts';
import { readSegmentRange } from './read-segments.ts';
import { openFiles, segmentBases, segmentPath } from './segments.ts';

type Machine = Pick<JobMachine, 'disk' | 'isWhole'>;

/**
 * Makes a partition end before the first place that was not written yet when somebody copied it, though later places were:
 * `cp` reads a file while a writer fills the zeros that it made ahead. What lies behind is set aside as `*.behind-gap`.
 * Bytes that were changed are damage and stay. May be done again if it was interrupted.
 *
 * @returns how many files were set aside
 */
export const endBeforeGap = (machine: Machine, folder: string): number => {
  const { disk } = machine;
  const bases = segmentBases(disk, folder);
  for (const [i, base] of bases.entries()) {
    const gap = gapIn(machine, folder, base, bases[i + 1]);
    if (gap === undefined) continue;
    const path = segmentPath(folder, base);
    // The last first: if this is interrupted, the gap is found again.
    const later = bases.slice(i + 1).reverse();
    for (const each of later) disk.rename(segmentPath(folder, each), asideOf(folder, each));
    const tail = withFile(disk, path, 'read', (file) =>
      readAll(disk, file, disk.status(file).size - (gap - base), gap - base),
    );
    const holdsData = tail.some((byte) => byte !== 0);
    if (holdsData)
      withFile(disk, asideOf(folder, gap), 'make', (file) => {
        writeAll(disk, file, tail, 0);
        disk.sync(file);
      });
    syncFolder(disk, folder);
    truncateFile(disk, path, gap - base);
    return later.length + (holdsData ? 1 : 0);
  }
  return 0;
};

const asideOf = (folder: string, offset: number): string =>
  join(folder, `${String(offset).padStart(16, '0')}.behind-gap`);

/** The offset of the first entry of a segment that was not written whole when it was read; undefined if there is none. */
const gapIn = (
  { disk, isWhole }: Machine,
  folder: string,
  base: number,
  next: number | undefined,
): number | undefined => {
  const path = segmentPath(folder, base);
  const end = Math.min(base + (disk.find(path)?.size ?? 0), next ?? Infinity);
  const bytesAt = (from: number, to: number): Buffer =>
    withFile(disk, path, 'read', (file) => readAll(disk, file, to - from, from - base));
  const files = openFiles(disk, 1);
  /** Where the entries begin that did not verify since the last one that did. */
  let broken: number | undefined;
  try {
    for (let at = base; at < end;) {
      for (const record of readSegmentRange(files, { folder, base, end }, at, 1024 * 1024, () => undefined)) {
        const { offset, damaged, keyVouched } = record;
        at = record.next;
        if (!damaged && isWhole(record.bytes)) {
          broken = undefined;
          continue;
        }
        broken ??= offset;
        // The end of a partition, which is an entry that was being written, or zeros that were made ahead.
        if (next === undefined && at === end) break;
        const isShort = damaged && keyVouched && at === end;
        if (isShort || wasUnwritten(bytesAt(offset, Math.min(at, offset + MAX_BYTES)), offset - base))
          return offset;
      }
    }
  } finally {
    files.close();
  }
  return next === undefined && broken !== undefined && bytesAt(broken, end).some((byte) => byte !== 0)
    ? broken
    : undefined;
};

const MAX_BYTES = HEADER_BYTES + MAX_KEY_BYTES + MAX_RECORD_BYTES;
const PAGE = 4096;
/** Shorter runs of zeros stand in records, too. */
const LEAST = 32;

/**
 * Whether a part of an entry's bytes was not written yet: they begin with zeros, or zeros reach to the end of a page, since
 * a reader sees a page before it is written or after. `place` is where they begin in their file.
 */
const wasUnwritten = (bytes: Buffer, place: number): boolean => {
  let zeros = 0;
  for (const [i, byte] of bytes.entries()) {
    zeros = byte === 0 ? zeros + 1 : 0;
    const isEdge = (place + i + 1) % PAGE === 0 || i === bytes.length - 1;
    const isStart = zeros === i + 1;
    if ((isEdge && isStart) || (zeros >= LEAST && (isEdge || isStart))) return true;
  }
  return false;
};
