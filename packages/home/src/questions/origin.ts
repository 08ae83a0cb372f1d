import type { HistoryEvent } from '@stemma/events';
import type { Projector } from '@stemma/projector';
import { findAct, nearestMark, nodeCourse, type Link } from '@stemma/read-models';
import { authorOf } from '../read.ts';
import type { Origin } from '../place.ts';

/** Where an event stands: the `index`-th of frame `seq`. */
export type EventPlace = { readonly seq: number; readonly index: number };

/** The frames of a history while a question is answered: what was read stays until then. */
export type Frames = {
  readonly eventsOf: (seq: number) => Promise<readonly HistoryEvent[]>;
  readonly describe: (place: EventPlace) => Promise<Origin>;
  /** The event on a chain that brought a node. */
  readonly entered: (chain: readonly Link[], id: string) => Promise<EventPlace>;
};

export const openFrames = (projector: Projector, history: string): Frames => {
  const frames = new Map<number, Promise<readonly HistoryEvent[]>>();
  const eventsOf: Frames['eventsOf'] = (seq) => {
    const known = frames.get(seq) ?? projector.payloads.events(history, seq);
    frames.set(seq, known);
    return known;
  };
  return {
    eventsOf,
    describe: async ({ seq, index }) => {
      const event = (await eventsOf(seq))[index] as HistoryEvent;
      const { act, open } = projector.read((rows) => {
        const found = findAct(rows, history, seq);
        const before = seq === 0 ? 0 : nearestMark(rows, history, found.strand, seq - 1).mark.cycle;
        return { act: found, open: before + 1 };
      });
      return {
        seq,
        index,
        event: event.type,
        command: act.command,
        author: authorOf(act),
        at: Number(act.at / 1_000_000n),
        strand: act.strand,
        cycle: event.type === 'NodeInserted' || event.type === 'NodeImported' ? event.node.cycle : open,
      };
    },
    entered: async (chain, id) => {
      const seq = projector.read((rows) => nodeCourse(rows, history, chain, id))[0]?.seq ?? 0;
      return {
        seq,
        index: Math.max(
          0,
          (await eventsOf(seq)).findLastIndex((event) => brings(event, id)),
        ),
      };
    },
  };
};

/** True for the event by which a node came into the history. */
export const brings = (event: HistoryEvent, id: string): boolean =>
  (event.type === 'NodeInserted' || event.type === 'NodeImported') && event.node.id === id;
