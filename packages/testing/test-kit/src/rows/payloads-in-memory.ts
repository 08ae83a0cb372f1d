import type { EventRef, Payload, PayloadSource } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import { payloadIn } from '@stemma/history';
import type { Projection } from '@stemma/projector';

/** As much of a projection's payloads as questions read, of frames that are in memory. */
export const payloadsInMemory = (
  events: (seq: number) => readonly HistoryEvent[],
  source: PayloadSource = ({ seq, index }): Payload => payloadIn(events(seq)[index] as HistoryEvent),
) =>
  ({
    events: (_: string, seq: number) => Promise.resolve(events(seq)),
    async *eventsInTurn(_: string, seqs: readonly number[]) {
      for (const seq of seqs) yield { seq, events: events(seq) };
    },
    all: (_: string, refs: readonly EventRef[]) => Promise.resolve(refs.map(source)),
    using: async <T>(_: string, fn: (source: PayloadSource) => T | Promise<T>) => fn(source),
  }) satisfies Partial<Projection['payloads']>;
