import type { EventRef } from '@stemma/context-tree';
import { enteredIds, nodeIn, type HistoryEvent } from '@stemma/events';
import { nearestMark, type NodeStep } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { authorOf, findAct } from '@stemma/read-models';
import type { Origin } from '../origin-types.ts';

/** Where an event stands: the `index`-th of frame `seq`. */
export type EventPlace = { readonly seq: number; readonly index: number };

/** Tells places apart. */
export const placeKey = ({ seq, index }: EventPlace): string => `${seq}.${index}`;

/** The frames of a history while a question is answered: what was read stays until then. */
export type Frames = {
  readonly eventsOf: (seq: number) => Promise<readonly HistoryEvent[]>;
  /** Reads frames, each once; gives what finds their events. */
  readonly held: (seqs: Iterable<number>) => Promise<(place: EventRef) => HistoryEvent>;
  /** Who wrote events and when, in the order of the places; their rows in one read. */
  readonly describe: (places: readonly EventPlace[]) => Promise<readonly Origin[]>;
  /** The event that brought a node, by its course. */
  readonly entered: (course: readonly NodeStep[], id: string) => Promise<EventPlace>;
};

export const openFrames = (projector: ServedRows, history: string): Frames => {
  const frames = new Map<number, readonly HistoryEvent[]>();
  const eventsOf: Frames['eventsOf'] = async (seq) => {
    const known = frames.get(seq) ?? (await projector.payloads.events(history, seq));
    frames.set(seq, known);
    return known;
  };
  const held: Frames['held'] = async (seqs) => {
    for (const seq of seqs) if (!frames.has(seq)) await eventsOf(seq);
    return ({ seq, index }) => frames.get(seq)?.[index] as HistoryEvent;
  };
  return {
    eventsOf,
    held,
    describe: async (places) => {
      const eventAt = await held(places.map(({ seq }) => seq));
      const facts = await projector.read((rows) => {
        const found = new Map<number, Omit<Origin, 'seq' | 'index' | 'event'>>();
        for (const { seq } of places) {
          if (found.has(seq)) continue;
          const act = findAct(rows, history, seq);
          const before = seq === 0 ? 0 : nearestMark(rows, history, act.strand, seq - 1).mark.cycle;
          const { command, strand } = act;
          const at = Number(act.at / 1_000_000n);
          found.set(seq, { command, author: authorOf(act), at, strand, cycle: before + 1 });
        }
        return found;
      });
      return places.map((place): Origin => {
        const event = eventAt(place);
        const known = facts.get(place.seq) as Omit<Origin, 'seq' | 'index' | 'event'>;
        const node = nodeIn(event);
        return {
          seq: place.seq,
          index: place.index,
          event: event.type,
          ...known,
          ...(node === null ? {} : { cycle: node.cycle }),
        };
      });
    },
    entered: async (course, id) => {
      const seq = course[0]?.seq ?? 0;
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
export const brings = (event: HistoryEvent, id: string): boolean => enteredIds(event).includes(id);
