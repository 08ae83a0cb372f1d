import type { LogRecord } from '@stemma/log';
import { readSync } from 'node:fs';
import { HEADER_BYTES, MAGIC, MAX_KEY_BYTES, MAX_RECORD_BYTES, readEntry } from './entry.ts';
import { segmentPath, type OpenFiles } from './segments.ts';

/** A stretch of a partition that lies in one segment: [`base`, `end`). */
export type SegmentRange = { readonly folder: string; readonly base: number; readonly end: number };

/** Tells whose record lies in a region whose header is damaged, if its hash is right. */
export type IdentifyRecord = (
  region: Buffer,
) => { readonly key: string; readonly bytes: Uint8Array } | undefined;

/**
 * The records of a segment from an offset on, about `maxBytes` of them and one at least. What begins no entry is given
 * as a damaged record up to the next entry, or to the stretch's end.
 */
export const readSegmentRange = (
  files: OpenFiles,
  range: SegmentRange,
  from: number,
  maxBytes: number,
  name: IdentifyRecord,
): LogRecord[] => {
  let size = Math.min(Math.max(maxBytes, HEADER_BYTES + MAX_KEY_BYTES), range.end - from);
  for (;;) {
    const bytes = load(files, range, from, size);
    const records = parse(bytes, from, range, size < maxBytes ? size : maxBytes);
    if (records.length > 0) return records;
    const entry = readEntry(bytes, 0, from);
    if (entry === undefined || bytes.length < size || size >= range.end - from)
      return [damagedFrom(files, range, from, name)];
    size = Math.min(entry === 'short' ? size * 2 : entry.end, range.end - from);
  }
};

/** The bytes of a segment from an offset on; fewer than asked for if the file is too short. */
const load = (files: OpenFiles, { folder, base, end }: SegmentRange, from: number, size: number): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(size, end - from)));
  try {
    const file = files.get(segmentPath(folder, base));
    let got = 0;
    while (got < bytes.length) {
      const more = readSync(file, bytes, got, bytes.length - got, from - base + got);
      if (more === 0) break;
      got += more;
    }
    return bytes.subarray(0, got);
  } catch (error) {
    // A segment that is gone is damage, not an accident of the reader.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return bytes.subarray(0, 0);
    throw error;
  }
};

const parse = (bytes: Buffer, from: number, { end }: SegmentRange, maxBytes: number): LogRecord[] => {
  const records: LogRecord[] = [];
  for (let at = 0; at < bytes.length && (records.length === 0 || at < maxBytes);) {
    const entry = readEntry(bytes, at, from + at);
    if (entry === undefined || entry === 'short' || entry.end > bytes.length || from + entry.end > end) break;
    records.push({
      offset: from + at,
      next: from + entry.end,
      key: textOf(bytes.subarray(entry.keyAt, entry.recordAt)),
      bytes: view(bytes, entry.recordAt, entry.end),
      damaged: false,
    });
    at = entry.end;
  }
  return records;
};

/** Not a Buffer: whose `slice` would be no copy. */
const view = (bytes: Buffer, start: number, end: number): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);

const textOf = (bytes: Buffer): string => bytes.toString('utf8');

/** The damaged record that begins at an offset: up to the next entry whose header verifies. */
const damagedFrom = (
  files: OpenFiles,
  range: SegmentRange,
  from: number,
  name: IdentifyRecord,
): LogRecord => {
  const found = load(files, range, from, HEADER_BYTES + MAX_KEY_BYTES + MAX_RECORD_BYTES);
  const entry = readEntry(found, 0, from);
  if (entry !== undefined && entry !== 'short' && from + entry.end > range.end) {
    // The header is right but the segment ends before it does: cut off.
    const key = textOf(found.subarray(entry.keyAt, entry.recordAt));
    return {
      offset: from,
      next: range.end,
      key,
      bytes: view(found, entry.recordAt, found.length),
      damaged: true,
    };
  }
  if (entry !== undefined && entry !== 'short') {
    const key = textOf(found.subarray(entry.keyAt, entry.recordAt));
    const next = nextEntry(files, range, from + HEADER_BYTES);
    return {
      offset: from,
      next,
      key,
      bytes: view(found, entry.recordAt, Math.min(found.length, entry.end)),
      damaged: true,
    };
  }
  const next = nextEntry(files, range, from + 1);
  const region = found.subarray(0, Math.min(found.length, next - from));
  return {
    offset: from,
    next,
    ...(name(region) ?? { key: null, bytes: view(region, 0, region.length) }),
    damaged: true,
  };
};

const WINDOW = 4 * 1024 * 1024;

/** The offset of the first entry at or behind `from` whose header verifies, or the stretch's end. */
const nextEntry = (files: OpenFiles, range: SegmentRange, from: number): number => {
  for (let at = from; at < range.end; at += WINDOW) {
    // A window and what an entry that begins at its end needs for its header.
    const bytes = load(files, range, at, WINDOW + HEADER_BYTES + MAX_KEY_BYTES);
    for (let i = bytes.indexOf(MAGIC); i !== -1 && i < WINDOW; i = bytes.indexOf(MAGIC, i + 1)) {
      const entry = readEntry(bytes, i, at + i);
      if (entry !== undefined && entry !== 'short') return at + i;
    }
  }
  return range.end;
};
