import type { CallSink } from './call-sink.ts';
import type { EntryRef } from './entry.ts';
import { openWaitingEntries } from './waiting-entries.ts';

/** An entry on its way to the sink. */
export type QueuedEntry = {
  /** True if the sink has it. */
  readonly isSent: () => boolean;
  /** Records the end of the call whose start it is with it, in one, as long as it is not sent. */
  readonly addEnd: (end: EntryRef) => void;
};

/** A sink that gets its entries a little later. */
export type LaterSink = Omit<CallSink, 'record'> & {
  readonly record: (...entry: Parameters<CallSink['record']>) => QueuedEntry;
  /** What has not been sent is not sent any more. */
  readonly close: () => void;
};

/**
 * So many entries are with the sink at a time: more than it works on, so that it never waits for one. If calls come faster than
 * they are recorded, those that wait are kept here, in order, where they are little work for whoever collects garbage.
 */
const MOST_AT_A_TIME = 128;

type Recording = Parameters<CallSink['record']>;
type Entry = {
  readonly ref: EntryRef;
  readonly answer: Recording[1];
  how: Recording[2];
  isSent: boolean;
};

/**
 * Sends entries on so many milliseconds after the first of them, together and in their order. To record a call takes another
 * thread longer than to send the next one on, and the two share the processors: of calls that follow one another at once, the
 * next one's answer has begun by then. A call that may be steered waits for none of it: what was noted before is sent on before.
 * The start of a call that still waits here when its end is noted takes it along: where calls come faster than they are recorded,
 * that halves the work.
 *
 * @param milliseconds 0: they are sent on at once
 */
export const recordLater = (sink: CallSink, milliseconds: number): LaterSink => {
  /** Those whose time has not come, and those for which there is no room yet. */
  let early: Entry[] = [];
  const due = openWaitingEntries<Entry>();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  const send = (entry: Entry): void => {
    const { ref, answer, how } = entry;
    entry.isSent = true;
    sent++;
    const answered: typeof answer = (outcome) => {
      sent--;
      answer(outcome);
      sendDue(MOST_AT_A_TIME);
    };
    sink.record(ref, answered, how);
  };
  const queued = (entry: Entry): QueuedEntry => ({
    isSent: () => entry.isSent,
    addEnd: (end) => {
      entry.how = { ...entry.how, end };
    },
  });
  const sendDue = (most: number): void => {
    while (sent < most) {
      const next = due.take();
      if (next === undefined) return;
      send(next);
    }
  };
  const makeDue = (): void => {
    clearTimeout(timer);
    due.add(early);
    early = [];
  };
  return {
    record: (ref, answer, how) => {
      // What an earlier process left comes before everything.
      const isLeft = how?.left === true;
      const entry: Entry = { ref, answer, how, isSent: isLeft };
      if (isLeft) {
        sink.record(ref, answer, how);
        return queued(entry);
      }
      if (early.length === 0 && milliseconds > 0)
        timer = setTimeout(() => {
          makeDue();
          sendDue(MOST_AT_A_TIME);
        }, milliseconds);
      early.push(entry);
      if (milliseconds === 0) {
        makeDue();
        sendDue(MOST_AT_A_TIME);
      }
      return queued(entry);
    },
    mayBeSteered: (place) => sink.mayBeSteered(place),
    steer: (...call) => {
      makeDue();
      sendDue(Infinity);
      return sink.steer(...call);
    },
    close: () => {
      clearTimeout(timer);
      early = [];
      due.clear();
    },
  };
};
