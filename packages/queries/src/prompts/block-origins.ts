import type { EventRef, FlatTree } from '@stemma/context-tree';
import { changedFields, changedIds, type HistoryEvent } from '@stemma/events';
import { nodeCourse, readChain, type NodeStep, type Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { brings, type EventPlace, type Frames } from './origin.ts';

/** The events that made the fields of a block what they are at a position. */
export type BlockOrigins = {
  /** The event that inserted or imported it. */
  readonly entered: EventPlace;
  /** The event that last set its content. */
  readonly content: EventPlace;
  /** The event that its role comes from: that which inserted it, or, for a role that it was not given, moved it. */
  readonly role: EventPlace;
};

/**
 * The events behind some blocks of one position. The event that holds a block's payload mostly brought it too, and then
 * nothing else need be known; rows are read of the others, and of those whose role the region gave.
 */
export const blockOrigins = async (
  projector: ServedRows,
  frames: Frames,
  { history, strand, seq }: Position,
  tree: FlatTree,
  indexes: readonly number[],
): Promise<ReadonlyMap<number, BlockOrigins>> => {
  const payloadOf = (index: number): EventRef => tree.payloads[index] ?? { seq: 0, index: 0 };
  const idOf = (index: number): string => tree.ids[index] as string;
  const defaulted = (index: number): boolean => tree.headers[index]?.role === undefined;
  const holder = await frames.held(indexes.map((index) => payloadOf(index).seq));
  const isNew = (index: number): boolean => brings(holder(payloadOf(index)), idOf(index));

  const courses = await projector.read((rows) => {
    const chain = readChain(rows, history, strand, seq);
    const asked = indexes.filter((index) => defaulted(index) || !isNew(index));
    return new Map(asked.map((index) => [index, nodeCourse(rows, history, chain, idOf(index))]));
  });
  const found = new Map<number, BlockOrigins>();
  for (const index of indexes) {
    const [id, payload, course] = [idOf(index), payloadOf(index), courses.get(index) ?? []];
    const entered = isNew(index) ? payload : await frames.entered(course, id);
    found.set(index, {
      entered,
      content: isNew(index) ? payload : await contentOrigin(frames, course, id, payload),
      role: defaulted(index) ? await roleOrigin(frames, course, id, tree, index, entered) : entered,
    });
  }
  return found;
};

/** The newest event that set the content: a replacement may have set other attributes only. */
const contentOrigin = async (
  { eventsOf }: Frames,
  course: readonly NodeStep[],
  id: string,
  last: EventPlace,
): Promise<EventPlace> => {
  const sets = (event: HistoryEvent | undefined): boolean =>
    event !== undefined &&
    (brings(event, id) || (changedIds(event).includes(id) && changedFields(event).includes('content')));
  if (sets((await eventsOf(last.seq))[last.index])) return last;
  for (const { seq } of course.toReversed()) {
    const index = (await eventsOf(seq)).findLastIndex(sets);
    if (index !== -1) return { seq, index };
  }
  return last;
};

/** A role that was not given is that of the region (context-tree §4), so that which put the block there made it. */
const roleOrigin = async (
  { eventsOf }: Frames,
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
