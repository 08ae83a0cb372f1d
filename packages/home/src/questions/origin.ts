import type { FlatTree } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import type { Projector } from '@stemma/projector';
import { findAct, nearestMark, nodeCourse, readChain, type NodeStep } from '@stemma/read-models';
import { authorOf } from '../read.ts';
import type { Position } from '../place.ts';
import type { Origin } from './types.ts';

/** Where an event stands: the `index`-th of frame `seq`. */
export type EventPlace = { readonly seq: number; readonly index: number };

/** The events that made the fields of a block what they are at a position. */
export type BlockOrigins = {
  /** The event that inserted or imported it. */
  readonly entered: EventPlace;
  /** The event that last set its content. */
  readonly content: EventPlace;
  /** The event that its role comes from: that which inserted it, or, for a role that it was not given, moved it. */
  readonly role: EventPlace;
};

type EventsOf = (seq: number) => Promise<readonly HistoryEvent[]>;

/** Finds the events behind the blocks of one position. Frames that are read stay until the answer is made. */
export const openOrigins = (
  projector: Projector,
  { history, strand, seq: limit }: Position,
  tree: FlatTree,
) => {
  const frames = new Map<number, Promise<readonly HistoryEvent[]>>();
  const eventsOf: EventsOf = (seq) => {
    const known = frames.get(seq) ?? projector.payloads.events(history, seq);
    frames.set(seq, known);
    return known;
  };
  const chain = projector.read((rows) => readChain(rows, history, strand, limit));

  const ofBlock = async (index: number): Promise<BlockOrigins> => {
    const id = tree.ids[index] as string;
    const course = projector.read((rows) => nodeCourse(rows, history, chain, id));
    const first = course[0]?.seq ?? 0;
    const entered = { seq: first, index: placeOf(await eventsOf(first), (event) => brings(event, id)) };
    const defaulted = tree.headers[index]?.role === undefined;
    return {
      entered,
      content: await contentOrigin(eventsOf, course, id, tree.payloads[index] ?? entered),
      role: defaulted ? await roleOrigin(eventsOf, course, id, tree, index, entered) : entered,
    };
  };

  const describe = async ({ seq, index }: EventPlace): Promise<Origin> => {
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
  };
  return { ofBlock, describe };
};

const brings = (event: HistoryEvent, id: string): boolean =>
  (event.type === 'NodeInserted' || event.type === 'NodeImported') && event.node.id === id;

const placeOf = (events: readonly HistoryEvent[], test: (event: HistoryEvent) => boolean): number =>
  Math.max(0, events.findLastIndex(test));

/** The newest event that set the content: a replacement may have set other attributes only. */
const contentOrigin = async (
  eventsOf: EventsOf,
  course: readonly NodeStep[],
  id: string,
  last: EventPlace,
): Promise<EventPlace> => {
  const sets = (event: HistoryEvent | undefined): boolean =>
    event !== undefined &&
    (brings(event, id) ||
      (event.type === 'NodeReplaced' && event.id === id && event.fields.includes('content')));
  if (sets((await eventsOf(last.seq))[last.index])) return { seq: last.seq, index: last.index };
  for (const { seq } of course.toReversed()) {
    const index = (await eventsOf(seq)).findLastIndex(sets);
    if (index !== -1) return { seq, index };
  }
  return last;
};

/** A role that was not given is that of the region (context-tree §4), so that which put the block there made it. */
const roleOrigin = async (
  eventsOf: EventsOf,
  course: readonly NodeStep[],
  id: string,
  tree: FlatTree,
  block: number,
  entered: EventPlace,
): Promise<EventPlace> => {
  const inSys = block < tree.seq;
  let since = course.length - 1;
  while (since > 0 && (course[since - 1]?.lies === 'sys') === inSys) since--;
  const seq = course[since]?.seq ?? entered.seq;
  const around = new Set<string>([id]);
  for (let i = tree.parents[block] as number; i > 0; i = tree.parents[i] as number)
    around.add(tree.ids[i] as string);
  const index = (await eventsOf(seq)).findLastIndex(
    (event) => event.type === 'NodeMoved' && around.has(event.id),
  );
  return index === -1 ? entered : { seq, index };
};
