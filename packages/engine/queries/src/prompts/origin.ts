import type { EventRef } from '@stemma/context-tree';
import { enteredIds, nodeIn, type HistoryEvent } from '@stemma/events';
import { readPositionMeta, type NodeHistoryEntry } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { authorOf, findFrameSummary } from '@stemma/read-models';
import { collect } from '@stemma/suspend';
import { defined, millisecondsOf } from '@stemma/values';
import type { Origin } from '../origin-types.ts';

/** The location of an event: the `index`-th of frame `seq`. */
export type EventLocation = { readonly seq: number; readonly index: number };

/** A key that differs for different locations. */
export const eventKey = ({ seq, index }: EventLocation): string => `${seq}.${index}`;

/** The frames of a history while a question is answered; each is kept until then. */
export type Frames = {
  readonly eventsOf: (seq: number) => Promise<readonly HistoryEvent[]>;
  /** Reads frames, each once; returns a function that finds their events. */
  readonly loadEvents: (seqs: Iterable<number>) => Promise<(location: EventRef) => HistoryEvent>;
  /** Who wrote events and when, in the order of the locations; reads their rows at once. */
  readonly describe: (locations: readonly EventLocation[]) => Promise<readonly Origin[]>;
  /** The event that inserted a node, found by the node's history. */
  readonly findInsertion: (nodeHistory: readonly NodeHistoryEntry[], id: string) => Promise<EventLocation>;
};

/** The frames that are read at once: a read for each takes longer than what is in it. */
const READ_TOGETHER = 64;

export const openFrames = (projection: Projection, history: string): Frames => {
  const frames = new Map<number, readonly HistoryEvent[]>();
  const eventsOf: Frames['eventsOf'] = async (seq) => {
    const known = frames.get(seq) ?? (await projection.payloads.events(history, seq));
    frames.set(seq, known);
    return known;
  };
  const loadEvents: Frames['loadEvents'] = async (seqs) => {
    const lacking = [...new Set(seqs)].filter((seq) => !frames.has(seq));
    for (let from = 0; from < lacking.length; from += READ_TOGETHER) {
      const together = lacking.slice(from, from + READ_TOGETHER);
      if (together.length > 1)
        await projection.payloads.using(history, (source) =>
          collect((attempt) => {
            for (const seq of together) attempt(source, { seq, index: 0 }, undefined);
          }),
        );
      for (const seq of together) await eventsOf(seq);
    }
    return ({ seq, index }) => frames.get(seq)?.[index] as HistoryEvent;
  };
  return {
    eventsOf,
    loadEvents,
    describe: async (locations) => {
      const eventAt = await loadEvents(locations.map(({ seq }) => seq));
      const facts = await projection.read((rows) => {
        const found = new Map<number, Omit<Origin, 'seq' | 'index' | 'event'>>();
        for (const { seq } of locations) {
          if (found.has(seq)) continue;
          const frameSummary = findFrameSummary(rows, history, seq);
          const before =
            seq === 0 ? 0 : readPositionMeta(rows, history, frameSummary.branchId, seq - 1).meta.cycle;
          const { command, branchId } = frameSummary;
          const at = millisecondsOf(frameSummary.at);
          found.set(seq, { command, author: authorOf(frameSummary), at, branchId, cycle: before + 1 });
        }
        return found;
      });
      return locations.map((location): Origin => {
        const event = eventAt(location);
        const known = facts.get(location.seq) as Omit<Origin, 'seq' | 'index' | 'event'>;
        const node = nodeIn(event);
        return {
          seq: location.seq,
          index: location.index,
          event: event.type,
          ...known,
          ...defined({ cycle: node?.cycle }),
        };
      });
    },
    findInsertion: async (nodeHistory, id) => {
      const seq = nodeHistory[0]?.seq ?? 0;
      return {
        seq,
        index: Math.max(
          0,
          (await eventsOf(seq)).findLastIndex((event) => introduces(event, id)),
        ),
      };
    },
  };
};

/** True for the event that inserted a node into the history. */
export const introduces = (event: HistoryEvent, id: string): boolean => enteredIds(event).includes(id);
