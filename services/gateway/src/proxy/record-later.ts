import type { CallSink } from './call-sink.ts';

/** A sink that gets its entries a little later. */
export type LaterSink = CallSink & {
  /** What has not been sent is not sent any more. */
  readonly close: () => void;
};

/**
 * Sends entries on so many milliseconds after the first of them, together and in their order. To record a call takes another
 * thread longer than to send the next one on, and the two share the processors: of calls that follow one another at once, the
 * next one's answer has begun by then. A call that may be steered waits for none of it: what was noted before is sent on before.
 *
 * @param milliseconds 0: they are sent on at once
 */
export const recordLater = (sink: CallSink, milliseconds: number): LaterSink => {
  let waiting: Parameters<CallSink['record']>[] = [];
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    clearTimeout(timer);
    const entries = waiting;
    waiting = [];
    for (const entry of entries) sink.record(...entry);
  };
  return {
    record: (...entry) => {
      const [, , how] = entry;
      // What an earlier process left comes before everything.
      if (milliseconds === 0 || how?.left === true) {
        sink.record(...entry);
        return;
      }
      if (waiting.length === 0) timer = setTimeout(send, milliseconds);
      waiting.push(entry);
    },
    mayBeSteered: (place) => sink.mayBeSteered(place),
    steer: (...call) => {
      send();
      return sink.steer(...call);
    },
    close: () => {
      clearTimeout(timer);
      waiting = [];
    },
  };
};
