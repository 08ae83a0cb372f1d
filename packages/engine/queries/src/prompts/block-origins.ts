import type { EventRef, FlatTree } from '@stemma/context-tree';
import { changedFields, changedIds, type HistoryEvent } from '@stemma/events';
import {
  readAncestorPath,
  readNodeHistory,
  type NodeHistoryEntry,
  type Position,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { introduces, type EventLocation, type Frames } from './origin.ts';

/** The events that made the fields of a block what they are at a position. */
export type BlockOrigins = {
  /** The event that inserted or imported it. */
  readonly entered: EventLocation;
  /** The event that last set its content. */
  readonly content: EventLocation;
  /** The event that its role comes from: the one that inserted it, or, without a role of its own, last moved it. */
  readonly role: EventLocation;
};

/**
 * The events that made some blocks of one position. The event that holds a block's payload usually inserted it as well,
 * which needs no rows; the function reads rows of the other blocks, and of those whose role comes from the region.
 */
export const findBlockOrigins = async (
  projection: Projection,
  frames: Frames,
  { history, branchId, seq }: Position,
  tree: FlatTree,
  indexes: readonly number[],
): Promise<ReadonlyMap<number, BlockOrigins>> => {
  const payloadOf = (index: number): EventRef => tree.payloads[index] ?? { seq: 0, index: 0 };
  const idOf = (index: number): string => tree.ids[index] as string;
  const hasDefaultRole = (index: number): boolean => tree.headers[index]?.role === undefined;
  const holder = await frames.loadEvents(indexes.map((index) => payloadOf(index).seq));
  const isNew = (index: number): boolean => introduces(holder(payloadOf(index)), idOf(index));

  const nodeHistories = await projection.read((rows) => {
    const ancestorPath = readAncestorPath(rows, history, branchId, seq);
    const asked = indexes.filter((index) => hasDefaultRole(index) || !isNew(index));
    return new Map(asked.map((index) => [index, readNodeHistory(rows, history, ancestorPath, idOf(index))]));
  });
  const found = new Map<number, BlockOrigins>();
  for (const index of indexes) {
    const [id, payload, nodeHistory] = [idOf(index), payloadOf(index), nodeHistories.get(index) ?? []];
    const entered = isNew(index) ? payload : await frames.findInsertion(nodeHistory, id);
    found.set(index, {
      entered,
      content: isNew(index) ? payload : await contentOrigin(frames, nodeHistory, id, payload),
      role: hasDefaultRole(index) ? await roleOrigin(frames, nodeHistory, id, tree, index, entered) : entered,
    });
  }
  return found;
};

/** The newest event that set the content: a replacement may have set other attributes only. */
const contentOrigin = async (
  { eventsOf }: Frames,
  nodeHistory: readonly NodeHistoryEntry[],
  id: string,
  last: EventLocation,
): Promise<EventLocation> => {
  const sets = (event: HistoryEvent | undefined): boolean =>
    event !== undefined &&
    (introduces(event, id) || (changedIds(event).includes(id) && changedFields(event).includes('content')));
  if (sets((await eventsOf(last.seq))[last.index])) return last;
  for (const { seq } of nodeHistory.toReversed()) {
    const index = (await eventsOf(seq)).findLastIndex(sets);
    if (index !== -1) return { seq, index };
  }
  return last;
};

/** The event that put the block into its region, from which a block without a role has its role (context-tree §4). */
const roleOrigin = async (
  { eventsOf }: Frames,
  nodeHistory: readonly NodeHistoryEntry[],
  id: string,
  tree: FlatTree,
  block: number,
  entered: EventLocation,
): Promise<EventLocation> => {
  const inSys = block < tree.seq;
  let since = nodeHistory.length - 1;
  while (since > 0 && (nodeHistory[since - 1]?.location === 'sys') === inSys) since--;
  const seq = nodeHistory[since]?.seq ?? entered.seq;
  const ancestors = new Set<string>([id]);
  for (let i = tree.parents[block] as number; i > 0; i = tree.parents[i] as number)
    ancestors.add(tree.ids[i] as string);
  const index = (await eventsOf(seq)).findLastIndex(
    (event) => event.type === 'NodeMoved' && ancestors.has(event.id),
  );
  return index === -1 ? entered : { seq, index };
};
