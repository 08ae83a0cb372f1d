import { isStemmaError } from '@stemma/errors';
import { relayedRecords } from './published/record.ts';
import { FRAMES, readHistoryHead } from '@stemma/history-store';
import { advanceCursor, checkCursor, type EventLog } from '@stemma/log';
import type { Publisher } from '@stemma/log-kafka';
import { isClosed, type Projector } from '@stemma/projector';
import type { CheckpointStore, RelayCheckpoint } from './checkpoint.ts';
import { readServedFrame, readServedRun, type ServedFrame } from './served-frames.ts';

/** What the relays of all partitions use together. */
export type RelayContext = {
  readonly log: EventLog;
  readonly contents: Projector['options']['contents'];
  readonly projector: Projector;
  readonly publisher: Pick<Publisher, 'send'>;
  readonly checkpoints: CheckpointStore;
  readonly say: (sentence: string) => void;
  /** Called with the number of events that were acknowledged. */
  readonly published: (events: number) => void;
};

/** Publishes one partition of the log. */
export type PartitionRelay = {
  readonly partition: number;
  checkpoint(): RelayCheckpoint;
  isClosed(): boolean;
  /** Publishes the next records; false if there were none. After an error it can be called again. */
  step(): Promise<boolean>;
};

/** About how many bytes of records it sends at once. */
const MAX_SEND_BYTES = 4 * 1024 * 1024;

export const openPartitionRelay = (
  context: RelayContext,
  partition: number,
  start: RelayCheckpoint,
): PartitionRelay => {
  const { log, projector, checkpoints, say } = context;
  let checkpoint = start;
  let closed = false;

  const projectedOffset = async (): Promise<number> =>
    (await projector.checkpoint(partition))?.cursor.offset ?? 0;

  /** Folds up to the end of the log: only the rows know which frames are accepted and not defective. */
  const catchUp = async (): Promise<void> => {
    try {
      await projector.catchUp(partition);
    } catch (error) {
      if (!isStemmaError(error, 'E_CURSOR_LOST')) throw error;
      await checkCursor(log, checkpoint.cursor);
      // The log is the right one, but the rows were made of another log.
      await projector.rebuild();
    }
    const isNowClosed = isClosed(await projector.checkpoint(partition));
    if (isNowClosed && !closed)
      say(
        `partition ${partition} is closed by a damaged record: find it with stemma verify, reopen the partition with stemma ack`,
      );
    if (!isNowClosed && closed) say(`partition ${partition} is open again`);
    closed = isNowClosed;
  };

  const saveCheckpoint = async (next: RelayCheckpoint): Promise<void> => {
    await checkpoints.save(partition, next);
    checkpoint = next;
  };

  const publish = async (frames: Iterable<ServedFrame>): Promise<RelayCheckpoint['ends']> => {
    const ends = new Map(checkpoint.ends);
    let records: ReturnType<typeof relayedRecords>[number][] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (records.length === 0) return;
      for (const [to, end] of await context.publisher.send(records)) ends.set(to, end);
      context.published(records.length);
      records = [];
      bytes = 0;
    };
    for (const frame of frames)
      for (const record of relayedRecords(await frame.read(), frame.hash, log.id)) {
        records.push(record);
        bytes += record.value.length;
        if (bytes >= MAX_SEND_BYTES) await flush();
      }
    await flush();
    return ends;
  };

  /** Publishes what was held back of histories that are whole again, before anything newer. */
  const releaseHeld = async (): Promise<boolean> => {
    let released = false;
    for (const [history, from] of checkpoint.held) {
      const { cursor } = checkpoint;
      const { whole, offsets } = await projector.read((view) => {
        const head = readHistoryHead(view, history);
        const to = head === undefined ? 0 : (head.stopped ?? head.next);
        const offsets: number[] = [];
        for (let seq = from; seq < to; seq++) {
          const offset = view.get(FRAMES, [history, seq])?.[0];
          if (typeof offset !== 'number' || offset >= cursor.offset) break;
          offsets.push(offset);
        }
        return { whole: to > from, offsets };
      });
      if (!whole) continue;
      const frames: ServedFrame[] = [];
      for (const offset of offsets) frames.push(await readServedFrame(context, partition, offset));
      const ends = await publish(frames);
      const held = new Map(checkpoint.held);
      held.delete(history);
      say(`${history} is repaired: publishing from seq ${from} on`);
      await saveCheckpoint({ ...checkpoint, held, ends });
      released = true;
    }
    return released;
  };

  return {
    partition,
    checkpoint: () => checkpoint,
    isClosed: () => closed,
    step: async () => {
      const from = checkpoint.cursor.offset;
      if (from >= (await projectedOffset()) || checkpoint.held.size > 0) await catchUp();
      const released = checkpoint.held.size > 0 && (await releaseHeld());
      const to = await projectedOffset();
      if (from >= to) return released;
      const { opened, frames, stopped } = await readServedRun(context, { partition, from, to });
      if (opened.length === 0) return released;
      const ends = await publish(frames.filter(({ history }) => !checkpoint.held.has(history)));
      const held = new Map(checkpoint.held);
      for (const [history, seq] of stopped)
        if (!held.has(history)) {
          say(`${history} is damaged or defective from seq ${seq} on: held back until it is repaired`);
          held.set(history, seq);
        }
      await saveCheckpoint({ ...checkpoint, cursor: advanceCursor(checkpoint.cursor, opened), held, ends });
      return true;
    },
  };
};
