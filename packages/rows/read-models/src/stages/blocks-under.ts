import {
  eachInSubtree,
  idOf,
  kindOfType,
  NODE_KIND,
  type EventRef,
  type NodeRecord,
} from '@stemma/context-tree';
import type { AppliedFrame } from '@stemma/history';

/**
 * The blocks that a node of the tree holds, itself if it is one, as they were right after the `index`-th event of the
 * frame. Read models see the tree after the whole frame: what later events changed is looked up in their changes.
 */
export const blocksUnder = (frame: AppliedFrame, index: number, id: string): readonly EventRef[] => {
  const { tree } = frame.state;
  const earlier = recordsBeforeLaterEvents(frame, index);
  const recordOf = (node: string): NodeRecord | undefined => {
    if (earlier.has(node)) return earlier.get(node);
    const found = tree.get(node);
    return found !== undefined && found.kind > NODE_KIND.turn ? (found.record as NodeRecord) : undefined;
  };
  const isUnder = (node: string): boolean => {
    for (let ancestor: string | null = node; ancestor !== null; ancestor = recordOf(ancestor)?.parent ?? null)
      if (ancestor === id) return true;
    return false;
  };
  // A block under the node is still there, or was changed later, or is in a container that was changed later.
  const candidates = new Set<string>();
  for (const top of [id, ...earlier.keys()]) {
    candidates.add(top);
    const node = tree.get(top);
    if (node !== undefined) eachInSubtree(node, (each) => candidates.add(idOf(each)));
  }
  const refs: EventRef[] = [];
  for (const each of candidates) {
    const record = recordOf(each);
    if (record !== undefined && kindOfType(record.headers.nodeType) === NODE_KIND.block && isUnder(each))
      refs.push(record.payload);
  }
  return refs;
};

/** The records that events after the `index`-th changed, as they were before; undefined: not inserted yet. */
const recordsBeforeLaterEvents = (
  { changes }: AppliedFrame,
  index: number,
): ReadonlyMap<string, NodeRecord | undefined> => {
  const records = new Map<string, NodeRecord | undefined>();
  for (let i = changes.length - 1; i > index; i--)
    for (const change of [...(changes[i] ?? [])].reverse())
      if ('node' in change) records.set(change.node, change.before);
  return records;
};
