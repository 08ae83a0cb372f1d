import {
  checkpointAtStart,
  decodeBody,
  partitionOf,
  raiseVersion,
  sealRecord,
  type AcceptedFrame,
  type Entry,
  type EventLog,
} from '@stemma/log';

/** About how many bytes go into one append. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 500;

/** Appends frames as they are, many at once; `flush` appends those that wait. */
export type FrameAppender = {
  readonly add: (frame: Pick<AcceptedFrame, 'envelope' | 'bytes' | 'bodyAt'>) => Promise<void>;
  readonly flush: () => Promise<void>;
};

/**
 * Appends frames of other logs to a log that takes their versions. Those of one history keep their order.
 *
 * @param appended called with the number of frames behind each append
 */
export const openFrameAppender = (log: EventLog, appended: (count: number) => void): FrameAppender => {
  const waiting = new Map<number, { readonly entries: Entry[]; bytes: number }>();
  /** The version of frames that is known to be allowed in a partition. */
  const raised = new Map<number, number>();
  const flush = async (partition: number): Promise<void> => {
    const batch = waiting.get(partition);
    if (batch === undefined) return;
    waiting.delete(partition);
    await log.append(partition, batch.entries);
    appended(batch.entries.length);
  };
  return {
    add: async ({ envelope, bytes, bodyAt }) => {
      const { history, v } = envelope;
      const partition = partitionOf(history, log.partitions);
      if (v > (raised.get(partition) ?? 1)) {
        const { at } = decodeBody(v, bytes, bodyAt);
        const start = await checkpointAtStart(log, partition);
        await raiseVersion(log, start, { load: () => new Map() }, { version: v, at });
        raised.set(partition, v);
      }
      const batch = waiting.get(partition) ?? { entries: [], bytes: 0 };
      waiting.set(partition, batch);
      batch.entries.push({ key: history, bytes: sealRecord(bytes) });
      batch.bytes += bytes.length;
      if (batch.bytes >= MAX_BYTES || batch.entries.length >= MAX_ENTRIES) await flush(partition);
    },
    flush: async () => {
      for (const partition of [...waiting.keys()]) await flush(partition);
    },
  };
};
