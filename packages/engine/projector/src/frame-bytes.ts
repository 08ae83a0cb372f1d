import { fail } from '@stemma/errors';
import { frameOfRecord, partitionOf, type EventLog } from '@stemma/log';

/** The bytes of frames, or the offsets of their records, by the numbers of the frames. */
export type FramesAt = (
  history: string,
  from: number,
  count: number,
) => Promise<ReadonlyMap<number, number | Uint8Array>>;

/** Frames whose records are not further apart are read at once: what lies between belongs to others. */
const NEAR = 16 * 1024;

/** At most so many bytes at once. */
const WINDOW = 1024 * 1024;

/**
 * The bytes of frames, in the order that they are named in. Nothing of them is checked but that their records are where they
 * were.
 *
 * @throws E_RECORD_DAMAGED, E_SNAPSHOT_NOT_FOUND
 */
export const readFrameBytes = async (
  log: Pick<EventLog, 'partitions' | 'read'>,
  framesAt: FramesAt,
  history: string,
  seqs: readonly number[],
): Promise<readonly Uint8Array[]> => {
  if (seqs.length === 0) return [];
  const { found, records } = await readFrameRecords(log, framesAt, history, seqs);
  return seqs.map((seq) => {
    const at = found.get(seq);
    if (at === undefined)
      throw fail('E_SNAPSHOT_NOT_FOUND', `${history} has no frame ${seq}`, { history, seq });
    const record = typeof at === 'number' ? records.get(at) : undefined;
    const frame = typeof at === 'number' ? record && frameOfRecord(record) : at;
    if (frame !== undefined) return frame;
    throw fail('E_RECORD_DAMAGED', `the record of frame ${seq} of ${history} can no longer be read`, {
      history,
      seq,
    });
  });
};

/** Where frames are, and of those in the log the records, by their offsets: damaged ones are not among them. */
export const readFrameRecords = async (
  log: Pick<EventLog, 'partitions' | 'read'>,
  framesAt: FramesAt,
  history: string,
  seqs: readonly number[],
): Promise<{
  readonly found: ReadonlyMap<number, number | Uint8Array>;
  readonly records: ReadonlyMap<number, Uint8Array>;
}> => {
  let [first, last] = [Infinity, 0];
  for (const seq of seqs) [first, last] = [Math.min(first, seq), Math.max(last, seq)];
  const found = await framesAt(history, first, last - first + 1);
  const offsets = [...new Set(seqs)]
    .flatMap((seq) => {
      const at = found.get(seq);
      return typeof at === 'number' ? [at] : [];
    })
    .sort((a, b) => a - b);
  return { found, records: await readRecords(log, partitionOf(history, log.partitions), offsets) };
};

/** The records at these offsets, which ascend. */
const readRecords = async (
  log: Pick<EventLog, 'partitions' | 'read'>,
  partition: number,
  offsets: readonly number[],
): Promise<ReadonlyMap<number, Uint8Array>> => {
  const wanted = new Set(offsets);
  const records = new Map<number, Uint8Array>();
  for (let i = 0; i < offsets.length;) {
    const from = offsets[i] as number;
    let end = i + 1;
    while (end < offsets.length && isNear(offsets, end, from)) end++;
    const size = (offsets[end - 1] as number) - from + 1;
    const read = (await log.read(partition, from, { maxBytes: size, known: offsets.slice(i, end) })).records;
    for (const { offset, damaged, bytes } of read)
      if (!damaged && wanted.has(offset)) records.set(offset, bytes);
    // A log may give less at once than it is asked for.
    const last = read.at(-1)?.offset ?? from;
    for (i++; i < end && (offsets[i] as number) <= last;) i++;
  }
  return records;
};

const isNear = (offsets: readonly number[], index: number, from: number): boolean =>
  (offsets[index] as number) - (offsets[index - 1] as number) <= NEAR &&
  (offsets[index] as number) - from < WINDOW;
