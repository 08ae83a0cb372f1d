import type { FlatTree } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import type { Projector } from '@stemma/projector';
import { nodeCourse, readChain, type NodeStep } from '@stemma/read-models';
import type { Position } from '../place.ts';
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

/** Finds the events behind the blocks of one position. */
export const blockOrigins = (
  projector: Projector,
  frames: Frames,
  { history, strand, seq }: Position,
  tree: FlatTree,
): ((index: number) => Promise<BlockOrigins>) => {
  const chain = projector.read((rows) => readChain(rows, history, strand, seq));
  return async (index) => {
    const id = tree.ids[index] as string;
    const course = projector.read((rows) => nodeCourse(rows, history, chain, id));
    const entered = await frames.entered(chain, id);
    const defaulted = tree.headers[index]?.role === undefined;
    return {
      entered,
      content: await contentOrigin(frames, course, id, tree.payloads[index] ?? entered),
      role: defaulted ? await roleOrigin(frames, course, id, tree, index, entered) : entered,
    };
  };
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
