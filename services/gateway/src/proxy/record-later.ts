import type { CallSink } from './call-sink.ts';
import { openWaitingEntries } from './waiting-entries.ts';

/** A sink that gets its entries a little later. */
export type LaterSink = CallSink & {
  /** What has not been sent is not sent any more. */
  readonly close: () => void;
};

/**
 * So many entries are with the sink at a time: more than it works on, so that it never waits for one. If calls come faster than
 * they are recorded, those that wait are kept here, in order, where they are little work for whoever collects garbage.
 */
const MOST_AT_A_TIME = 128;

type Entry = Parameters<CallSink['record']>;

/**
 * Sends entries on so many milliseconds after the first of them, together and in their order. To record a call takes another
 * thread longer than to send the next one on, and the two share the processors: of calls that follow one another at once, the
 * next one's answer has begun by then. A call that may be steered waits for none of it: what was noted before is sent on before.
 *
 * @param milliseconds 0: they are sent on at once
 */
export const recordLater = (sink: CallSink, milliseconds: number): LaterSink => {
  /** Those whose time has not come, and those for which there is no room yet. */
  let early: Entry[] = [];
  const due = openWaitingEntries<Entry>();
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;
  const send = ([ref, answer, how]: Entry): void => {
    sent++;
    const answered: typeof answer = (outcome) => {
      sent--;
      answer(outcome);
      sendDue(MOST_AT_A_TIME);
    };
    sink.record(ref, answered, how);
  };
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
    record: (...entry) => {
      const [, , how] = entry;
      // What an earlier process left comes before everything.
      if (how?.left === true) {
        sink.record(...entry);
        return;
      }
      if (early.length === 0 && milliseconds > 0)
        timer = setTimeout(() => {
          makeDue();
          sendDue(MOST_AT_A_TIME);
        }, milliseconds);
      early.push(entry);
      if (milliseconds > 0) return;
      makeDue();
      sendDue(MOST_AT_A_TIME);
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
