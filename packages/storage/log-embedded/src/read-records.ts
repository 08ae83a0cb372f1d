import { fail } from '@stemma/errors';
import type { LogRecord, RawLog } from '@stemma/log';
import { asLogError } from './as-log-error.ts';
import { identifyRecord } from './identify-record.ts';
import { readKnown, readSegmentRange, type SegmentRange } from './read-segments.ts';
import type { OpenFiles } from './segments.ts';

/** Bytes of the records that are read at once, if nothing else is asked for. */
export const MOST_BYTES = 1024 * 1024;

export type ReadHow = NonNullable<Parameters<RawLog['read']>[2]>;

/** Where a partition ends, and which part of it, in one segment, an offset before the end lies in. */
type ReadablePartition = {
  readonly partition: number;
  readonly end: number;
  readonly rangeAt: (from: number) => SegmentRange;
};

/**
 * The records of a partition from an offset on, as `RawLog.read` gives them.
 *
 * @throws E_CURSOR_LOST if the partition ends before, E_IO
 */
export const readRecords = (
  files: OpenFiles,
  { partition, end, rangeAt }: ReadablePartition,
  from: number,
  { maxBytes = MOST_BYTES, known }: ReadHow,
): { readonly records: readonly LogRecord[]; readonly next: number } => {
  if (!Number.isSafeInteger(from) || from < 0 || from > end)
    throw fail('E_CURSOR_LOST', `partition ${partition} ends before offset ${from}`, {
      partition,
      offset: from,
    });
  if (from === end) return { records: [], next: from };
  const records = asLogError('the log cannot be read', () => {
    const range = rangeAt(from);
    return (
      (known && readKnown(files, range, from, maxBytes, known)) ??
      readSegmentRange(files, range, from, maxBytes, identifyRecord)
    );
  });
  return { records, next: (records.at(-1) as LogRecord).next };
};
