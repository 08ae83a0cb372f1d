import type { LogRecord } from '@stemma/log';
import { readAll } from './disk.ts';
import {
  boundsAt,
  HEADER_BYTES,
  MAGIC,
  MAX_KEY_BYTES,
  MAX_RECORD_BYTES,
  readEntry,
  type EntryBounds,
} from './entry.ts';
import type { OpenFiles } from './segments.ts';

/** The part of a partition in one segment: [`base`, `end`). */
export type SegmentRange = { readonly folder: string; readonly base: number; readonly end: number };

/** The segment of an offset. Offsets of a missing segment belong to the segment before it. */
export const segmentRangeAt = (
  folder: string,
  bases: readonly number[],
  from: number,
  end: number,
): SegmentRange => {
  const [first] = bases;
  if (first !== undefined && from < first) return { folder, base: 0, end: first };
  let i = bases.length - 1;
  while (i > 0 && (bases[i] as number) > from) i--;
  return { folder, base: bases[i] ?? 0, end: bases[i + 1] ?? end };
};

/** Returns the history of a record in a region with a damaged header, if its hash is right. */
export type IdentifyRecord = (
  region: Buffer,
) => { readonly key: string; readonly bytes: Uint8Array } | undefined;

/**
 * The records of a segment from an offset on, about `maxBytes` of them and at least one. Bytes that begin no entry are
 * returned as a damaged record, up to the next entry or the end of the range.
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

/** What follows the beginning of the last record that is wanted is rarely longer. */
const LAST_RECORD = 4 * 1024;

const MAX_ENTRY_BYTES = HEADER_BYTES + MAX_KEY_BYTES + MAX_RECORD_BYTES;

/** Those of the records at known offsets that lie in a part of a segment; undefined if one is not as its header says. */
export const readKnown = (
  files: OpenFiles,
  range: SegmentRange,
  from: number,
  maxBytes: number,
  offsets: readonly number[],
): LogRecord[] | undefined => {
  const [first] = offsets;
  if (maxBytes <= LAST_RECORD && first === from) {
    const record = readOneKnown(files, range, from);
    return record && [record];
  }
  const bytes = load(files, range, from, Math.min(maxBytes + LAST_RECORD, range.end - from));
  const records: LogRecord[] = [];
  for (const offset of offsets) {
    const at = offset - from;
    if (at < 0) continue;
    if (at >= maxBytes || offset >= range.end) break;
    const entry = boundsAt(bytes, at);
    if (entry === undefined) return undefined;
    if (entry.end > bytes.length) return records.length > 0 ? records : undefined;
    records.push(knownRecord(bytes, from, at, entry));
  }
  return records.length > 0 ? records : undefined;
};

/** Memory for records that are read one by one: to make some for each takes longer than to read the record. */
const SHARED_BYTES = 16 * LAST_RECORD;
let shared = Buffer.alloc(0);

const readOneKnown = (files: OpenFiles, range: SegmentRange, from: number): LogRecord | undefined => {
  if (shared.length < LAST_RECORD) shared = Buffer.allocUnsafeSlow(SHARED_BYTES);
  const bytes = load(files, range, from, LAST_RECORD, shared);
  const entry = boundsAt(bytes, 0);
  if (entry === undefined || entry.end > MAX_ENTRY_BYTES || from + entry.end > range.end) return undefined;
  if (entry.end <= bytes.length) {
    shared = shared.subarray(entry.end);
    return knownRecord(bytes, from, 0, entry);
  }
  const whole = load(files, range, from, entry.end);
  return whole.length < entry.end ? undefined : knownRecord(whole, from, 0, entry);
};

const knownRecord = (bytes: Buffer, from: number, at: number, { recordAt, end }: EntryBounds): LogRecord => ({
  offset: from + at,
  next: from + end,
  key: null,
  bytes: view(bytes, recordAt, end),
  keyVouched: false,
  damaged: false,
});

/** The bytes of a segment from an offset on; fewer than requested if the file is too short. */
const load = (
  files: OpenFiles,
  { folder, base, end }: SegmentRange,
  from: number,
  size: number,
  into?: Buffer,
): Buffer => {
  try {
    const file = files.get(folder, base);
    return readAll(files.disk, file, Math.min(size, end - from), from - base, into);
  } catch (error) {
    // A missing segment is damage, not an error of the reader.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
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
      keyVouched: true,
      damaged: false,
    });
    at = entry.end;
  }
  return records;
};

/** Not a Buffer, whose `slice` would not copy. */
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
    // The header is right but the segment ends before the entry does: truncated.
    const key = textOf(found.subarray(entry.keyAt, entry.recordAt));
    return {
      offset: from,
      next: range.end,
      key,
      bytes: view(found, entry.recordAt, found.length),
      keyVouched: true,
      damaged: true,
    };
  }
  if (entry !== undefined && entry !== 'short') {
    const key = textOf(found.subarray(entry.keyAt, entry.recordAt));
    // What follows its own bytes may be anybody's.
    const next = Math.min(nextEntry(files, range, from + HEADER_BYTES), from + entry.end);
    return {
      offset: from,
      next,
      key,
      bytes: view(found, entry.recordAt, Math.min(found.length, entry.end)),
      keyVouched: true,
      damaged: true,
    };
  }
  const next = nextEntry(files, range, from + 1);
  const region = found.subarray(0, Math.min(found.length, next - from));
  return {
    offset: from,
    next,
    ...(name(region) ?? { key: null, bytes: view(region, 0, region.length) }),
    keyVouched: false,
    damaged: true,
  };
};

const WINDOW = 4 * 1024 * 1024;

/** The offset of the first entry at or after `from` whose header verifies, or the end of the range. */
const nextEntry = (files: OpenFiles, range: SegmentRange, from: number): number => {
  for (let at = from; at < range.end; at += WINDOW) {
    // A window, and the bytes that the header of an entry at its end needs.
    const bytes = load(files, range, at, WINDOW + HEADER_BYTES + MAX_KEY_BYTES);
    for (let i = bytes.indexOf(MAGIC); i !== -1 && i < WINDOW; i = bytes.indexOf(MAGIC, i + 1)) {
      const entry = readEntry(bytes, i, at + i);
      if (entry !== undefined && entry !== 'short') return at + i;
    }
  }
  return range.end;
};
