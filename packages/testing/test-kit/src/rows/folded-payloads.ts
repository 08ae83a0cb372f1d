import type { PayloadSource } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import { payloadIn, type AppliedFrame } from '@stemma/history';

/** Gives each frame the payloads of itself and of those before it. */
export const foldedPayloads = (): ((frame: AppliedFrame) => PayloadSource) => {
  const events: (readonly HistoryEvent[])[] = [];
  return (frame) => {
    events[frame.seq] = frame.events;
    return ({ seq, index }) => payloadIn(events[seq]?.[index] as HistoryEvent);
  };
};
