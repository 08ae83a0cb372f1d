import { isStemmaError } from '@stemma/errors';
import { relayedRecords } from '@stemma/event-contract';
import { FRAMES, readFence } from '@stemma/history-store';
import { advanceCursor, checkCursor, type EventLog } from '@stemma/log';
import type { Publisher } from '@stemma/log-kafka';
import { isClosed, type Projector } from '@stemma/projector';
import type { Place, Places } from './place.ts';
import { readStretch, readTaken, type Taken } from './stretch.ts';

/** What the courses of all partitions share. */
export type Relaying = {
  readonly log: EventLog;
  readonly contents: Projector['options']['contents'];
  readonly projector: Projector;
  readonly publisher: Pick<Publisher, 'send'>;
  readonly places: Places;
  readonly say: (sentence: string) => void;
  /** Called when so many events were acknowledged. */
  readonly published: (events: number) => void;
};

/** The relay's way through one partition of the log. */
export type Course = {
  readonly partition: number;
  place(): Place;
  isClosed(): boolean;
  /** Publishes the next stretch; false if there was nothing to publish. May be called again when it throws. */
  step(): Promise<boolean>;
};

/** About so many bytes of records are sent at once. */
const SEND_BYTES = 4 * 1024 * 1024;

export const openCourse = (relaying: Relaying, partition: number, begin: Place): Course => {
  const { log, projector, places, say } = relaying;
  let place = begin;
  let closed = false;

  const knownTo = async (): Promise<number> => (await projector.checkpoint(partition))?.cursor.offset ?? 0;

  /** Everything up to the log's end is in the rows: only they know which frames are accepted and true. */
  const catchUp = async (): Promise<void> => {
    try {
      await projector.catchUp(partition);
    } catch (error) {
      if (!isStemmaError(error, 'E_CURSOR_LOST')) throw error;
      await checkCursor(log, place.cursor);
      // The log is the one that was published; only the rows are of another.
      await projector.rebuild();
    }
    const now = isClosed(await projector.checkpoint(partition));
    if (now && !closed)
      say(
        `partition ${partition} is closed by a damaged record: stemma verify names it, stemma ack opens it`,
      );
    if (!now && closed) say(`partition ${partition} is open again`);
    closed = now;
  };

  const moveTo = async (next: Place): Promise<void> => {
    await places.save(partition, next);
    place = next;
  };

  const publish = async (taken: Iterable<Taken>): Promise<Place['ends']> => {
    const ends = new Map(place.ends);
    let records: ReturnType<typeof relayedRecords>[number][] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (records.length === 0) return;
      for (const [to, end] of await relaying.publisher.send(records)) ends.set(to, end);
      relaying.published(records.length);
      records = [];
      bytes = 0;
    };
    for (const frame of taken)
      for (const record of relayedRecords(await frame.read(), frame.hash, log.id)) {
        records.push(record);
        bytes += record.value.length;
        if (bytes >= SEND_BYTES) await flush();
      }
    await flush();
    return ends;
  };

  /** Histories that are whole again: what was held back of them goes first. */
  const release = async (): Promise<boolean> => {
    let released = false;
    for (const [history, from] of place.held) {
      const { cursor } = place;
      const { whole, offsets } = await projector.read((view) => {
        const head = readFence(view, history);
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
      const taken: Taken[] = [];
      for (const offset of offsets) taken.push(await readTaken(relaying, partition, offset));
      const ends = await publish(taken);
      const held = new Map(place.held);
      held.delete(history);
      say(`${history} is whole again: going on at seq ${from}`);
      await moveTo({ ...place, held, ends });
      released = true;
    }
    return released;
  };

  return {
    partition,
    place: () => place,
    isClosed: () => closed,
    step: async () => {
      const from = place.cursor.offset;
      if (from >= (await knownTo()) || place.held.size > 0) await catchUp();
      const released = place.held.size > 0 && (await release());
      const to = await knownTo();
      if (from >= to) return released;
      const { opened, taken, stopped } = await readStretch(relaying, { partition, from, to });
      if (opened.length === 0) return released;
      const ends = await publish(taken.filter(({ history }) => !place.held.has(history)));
      const held = new Map(place.held);
      for (const [history, seq] of stopped)
        if (!held.has(history)) {
          say(`${history} is not whole from seq ${seq} on: held back until it is`);
          held.set(history, seq);
        }
      await moveTo({ ...place, cursor: advanceCursor(place.cursor, opened), held, ends });
      return true;
    },
  };
};
