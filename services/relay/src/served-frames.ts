import { fail } from '@stemma/errors';
import type { Frame } from '@stemma/events';
import { FRAMES, readHistoryHead } from '@stemma/history-store';
import { openRecord, openRecords, readFrame, type EventLog, type LogRecord, type Opened } from '@stemma/log';
import type { Projector } from '@stemma/projector';

/** An accepted frame of the log. */
export type ServedFrame = {
  readonly history: string;
  readonly seq: number;
  readonly hash: Uint8Array;
  /** Reads the frame with its contents. @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED, E_IO */
  read(): Promise<Frame>;
};

export type ServedRun = {
  readonly opened: readonly Opened[];
  /** The frames that the rows accepted and that may be published, in order. */
  readonly frames: readonly ServedFrame[];
  /** Damaged or defective histories in this run, with the `seq` from which nothing of them is published. */
  readonly stopped: ReadonlyMap<string, number>;
};

type ReadContext = {
  readonly log: EventLog;
  readonly projector: Projector;
  readonly contents: { get: Projector['options']['contents']['get'] };
};

/** Reads the next records of a partition before `to`. The rows, which must be folded up to `to`, say which were accepted. */
export const readServedRun = async (
  context: ReadContext,
  { partition, from, to }: { readonly partition: number; readonly from: number; readonly to: number },
): Promise<ServedRun> => {
  const { records } = await context.log.read(partition, from);
  const { opened, histories } = openRecords(records.filter(({ offset }) => offset < to));
  const { offsets, stopped } = await context.projector.read((view) => {
    const offsets = opened.map(({ open }) =>
      open === undefined ? undefined : view.get(FRAMES, [open.envelope.history, open.envelope.seq])?.[0],
    );
    const stopped = new Map<string, number>();
    for (const history of histories) {
      const stoppedAt = readHistoryHead(view, history)?.stopped ?? null;
      if (stoppedAt !== null) stopped.set(history, stoppedAt);
    }
    return { offsets, stopped };
  });
  const frames = opened.flatMap(({ record }, i) => {
    if (offsets[i] !== record.offset) return [];
    const frame = servedFrameFrom(context, record);
    return frame !== undefined && frame.seq < (stopped.get(frame.history) ?? Infinity) ? [frame] : [];
  });
  return { opened, frames, stopped };
};

/** Reads the frame at an offset that the rows name. @throws E_RECORD_DAMAGED, and what reading the log throws */
export const readServedFrame = async (
  context: ReadContext,
  partition: number,
  offset: number,
): Promise<ServedFrame> => {
  const [record] = (await context.log.read(partition, offset, { maxBytes: 1 })).records;
  const frame = record && servedFrameFrom(context, record);
  if (frame !== undefined) return frame;
  throw fail('E_RECORD_DAMAGED', `the record ${partition}@${offset} cannot be read any more`, {
    partition,
    offset,
  });
};

const servedFrameFrom = ({ contents }: ReadContext, record: LogRecord): ServedFrame | undefined => {
  const open = record.damaged ? undefined : openRecord(record.bytes);
  if (open === undefined) return undefined;
  const { envelope, frame: bytes, bodyAt, hash } = open;
  const { history, seq } = envelope;
  return { history, seq, hash, read: () => readFrame({ envelope, bytes, bodyAt }, contents) };
};
