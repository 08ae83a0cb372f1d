import { fail } from '@stemma/errors';
import type { Frame } from '@stemma/events';
import { FRAMES, readFence } from '@stemma/history-store';
import { openRecord, openRecords, readFrame, type EventLog, type LogRecord, type Opened } from '@stemma/log';
import type { Projector } from '@stemma/projector';

/** An accepted frame as it lies in the log. */
export type Taken = {
  readonly history: string;
  readonly seq: number;
  readonly hash: Uint8Array;
  /** Its events, contents in place. @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED, E_IO */
  read(): Promise<Frame>;
};

export type Stretch = {
  readonly opened: readonly Opened[];
  /** The frames that the rows took and that are served, in order. */
  readonly taken: readonly Taken[];
  /** Histories met in it that are not whole, with the `seq` from which nothing of them is served. */
  readonly stopped: ReadonlyMap<string, number>;
};

type Reading = {
  readonly log: EventLog;
  readonly projector: Projector;
  readonly contents: { get: Projector['options']['contents']['get'] };
};

/** The next records of a partition before `to`, judged by the rows, which were folded at least so far. */
export const readStretch = async (
  reading: Reading,
  { partition, from, to }: { readonly partition: number; readonly from: number; readonly to: number },
): Promise<Stretch> => {
  const { records } = await reading.log.read(partition, from);
  const { opened, histories } = openRecords(records.filter(({ offset }) => offset < to));
  const { offsets, stopped } = await reading.projector.read((view) => {
    const offsets = opened.map(({ open }) =>
      open === undefined ? undefined : view.get(FRAMES, [open.envelope.history, open.envelope.seq])?.[0],
    );
    const stopped = new Map<string, number>();
    for (const history of histories) {
      const at = readFence(view, history)?.stopped ?? null;
      if (at !== null) stopped.set(history, at);
    }
    return { offsets, stopped };
  });
  const taken = opened.flatMap(({ record }, i) => {
    if (offsets[i] !== record.offset) return [];
    const frame = takenFrom(reading, record);
    return frame !== undefined && frame.seq < (stopped.get(frame.history) ?? Infinity) ? [frame] : [];
  });
  return { opened, taken, stopped };
};

/** The frame at an offset that the rows name. @throws E_RECORD_DAMAGED, and what reading the log throws */
export const readTaken = async (reading: Reading, partition: number, offset: number): Promise<Taken> => {
  const [record] = (await reading.log.read(partition, offset, { maxBytes: 1 })).records;
  const taken = record && takenFrom(reading, record);
  if (taken !== undefined) return taken;
  throw fail('E_RECORD_DAMAGED', `the record ${partition}@${offset} cannot be read any more`, {
    partition,
    offset,
  });
};

const takenFrom = ({ contents }: Reading, record: LogRecord): Taken | undefined => {
  const open = record.damaged ? undefined : openRecord(record.bytes);
  if (open === undefined) return undefined;
  const { envelope, frame: bytes, bodyAt, hash } = open;
  const { history, seq } = envelope;
  return { history, seq, hash, read: () => readFrame({ envelope, bytes, bodyAt }, contents) };
};
