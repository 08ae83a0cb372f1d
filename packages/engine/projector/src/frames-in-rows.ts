import { findFrame, findFrames } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import type { PayloadsOptions } from './payloads.ts';

/** Finds frames in rows that `read` gives. */
export const framesInRows = (
  read: <T>(fn: (rows: RowReader) => T) => Promise<T>,
  keepFrames: boolean,
): Pick<PayloadsOptions, 'frameAt' | 'framesAt'> => ({
  frameAt: (history, seq) => read((rows) => findFrame(rows, history, seq, keepFrames)),
  framesAt: (history, from, count) => read((rows) => findFrames(rows, history, from, count, keepFrames)),
});
