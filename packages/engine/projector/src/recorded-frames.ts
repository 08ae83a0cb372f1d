import { fail } from '@stemma/errors';
import {
  decodeEnvelope,
  openRecord,
  type OpenRecord,
  partitionOf,
  type EventLog,
  type readFrame,
} from '@stemma/log';
import { type FramesAt, readFrameRecords } from './frame-bytes.ts';

/** The bytes of a frame, or the offset of its record; undefined if there is no such frame. */
export type FrameAt = (history: string, seq: number) => Promise<number | Uint8Array | undefined>;

export type Readable = Parameters<typeof readFrame>[0];
const readableOf = ({ envelope, frame, bodyAt }: OpenRecord): Readable => ({
  envelope,
  bytes: frame,
  bodyAt,
});

/** Frames as they were recorded; nothing is cached. */
export type RecordedFrames = {
  /** @throws E_RECORD_DAMAGED, E_ROWS_DAMAGED, E_SNAPSHOT_NOT_FOUND */
  one(history: string, seq: number, find: FrameAt): Promise<Readable>;
  /**
   * The frames that are read at once: what a read per frame costs is more than what lies between them. Undefined: whatever is not as
   * it should be must be read alone, which says what is wrong with it.
   */
  together(history: string, seqs: readonly number[]): Promise<readonly (Readable | undefined)[]>;
};

export const openRecordedFrames = (
  log: Pick<EventLog, 'partitions' | 'read'>,
  framesAt: FramesAt,
): RecordedFrames => ({
  async one(history, seq, find) {
    const at = await find(history, seq);
    if (at === undefined)
      throw fail('E_SNAPSHOT_NOT_FOUND', `${history} has no frame ${seq}`, { history, seq });
    return typeof at === 'number' ? frameInLog(log, history, seq, at) : frameInRows(history, seq, at);
  },
  async together(history, seqs) {
    const { found, records } = await readFrameRecords(log, framesAt, history, seqs);
    return seqs.map((seq) => {
      const at = found.get(seq);
      const record = typeof at === 'number' ? records.get(at) : undefined;
      const open = record && openRecord(record);
      if (open?.envelope.history !== history || open.envelope.seq !== seq) return undefined;
      return readableOf(open);
    });
  },
});

const frameInLog = async (
  log: Pick<EventLog, 'partitions' | 'read'>,
  history: string,
  seq: number,
  offset: number,
): Promise<Readable> => {
  const partition = partitionOf(history, log.partitions);
  const [record] = (await log.read(partition, offset, { maxBytes: 1, known: [offset] })).records;
  const open = record === undefined || record.damaged ? undefined : openRecord(record.bytes);
  if (open?.envelope.history !== history || open.envelope.seq !== seq)
    throw fail('E_RECORD_DAMAGED', `the record of frame ${seq} of ${history} can no longer be read`, {
      history,
      seq,
      partition,
      offset,
    });
  return readableOf(open);
};

const frameInRows = (history: string, seq: number, bytes: Uint8Array): Readable => {
  const open = decodeEnvelope(bytes);
  if (open) return { ...open, bytes };
  throw fail('E_ROWS_DAMAGED', `the rows no longer have frame ${seq} of ${history}`, { history, seq });
};
