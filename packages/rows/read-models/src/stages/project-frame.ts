import { compareNumbers, type WideJsonObject } from '@stemma/canonical';
import {
  eachInSubtree,
  kindOfType,
  NODE_KIND,
  type EventRef,
  type Headers,
  type Payload,
  type RecordChange,
} from '@stemma/context-tree';
import { isOfOne } from '@stemma/events';
import { payloadIn, type AppliedFrame } from '@stemma/history';
import { blocksUnder } from './blocks-under.ts';
import { guardrailContent } from './guardrail-content.ts';
import {
  blockNode,
  lifecycleSlot,
  slotOf,
  type LifecyclePayload,
  type LifecycleType,
  type NodeKind,
  type ProjectedNode,
} from './stream-node.ts';

/** The order of the nodes that a commit adds for nodes of the tree (compiler-stages: node stream). */
const AT_COMMIT = ['expired', 'cascaded', 'pruned', 'sealed', 'committed'] as const;
type AtCommit = (typeof AT_COMMIT)[number];

/** The categories of events that may add nodes to the stream. */
const IN_STREAM = ['start', 'tree', 'snapshot', 'intervention'] as const;

/** The ordinal in the stream of the node that an event inserted. */
export type OrdinalOf = (ref: EventRef) => number;

/**
 * The nodes that one frame adds to the stream of its branch, in order; the first has the ordinal `first`. `open` is
 * the cycle that is open while the frame is decided. `ordinalOf` is called for nodes of earlier frames only. What
 * changes containers alone adds no node, since containers are not in the stream.
 */
export const projectFrame = (
  frame: AppliedFrame,
  open: number,
  first: number,
  ordinalOf: OrdinalOf,
): readonly ProjectedNode[] => {
  const { events, seq, changes } = frame;
  const nodes: ProjectedNode[] = [];
  const own = new Map<number, number>();
  const add = (slot: number, kind: NodeKind, turn: number, payload: WideJsonObject): void => {
    nodes.push({ slot, kind, turn, payload });
  };
  const addBlock = (index: number, headers: Headers, turn: number, payload: Payload): void => {
    const node = blockNode(headers, payload);
    own.set(index, first + nodes.length);
    add(slotOf(index), node.kind, turn, node.payload);
  };
  const addLifecycle = (slot: number, type: LifecycleType, refs: readonly EventRef[]): void => {
    const ordinals = refs.map((ref) => (ref.seq === seq ? own.get(ref.index) : undefined) ?? ordinalOf(ref));
    if (ordinals.length > 1) ordinals.sort(compareNumbers);
    const payload: LifecyclePayload = { payload: { cycle: open, nodes: ordinals }, type };
    add(slot, 'lifecycle', open, payload);
  };
  const atCommit = new Map<AtCommit, EventRef[]>();
  const noteRemoved = (type: AtCommit, index: number): void => {
    let refs = atCommit.get(type);
    if (refs === undefined) atCommit.set(type, (refs = []));
    collectRemovedBlocks(changes[index] ?? NONE, refs);
  };
  const commit = (index: number): void => {
    for (let order = 0; order < AT_COMMIT.length; order++) {
      const type = AT_COMMIT[order] as AtCommit;
      const refs = atCommit.get(type) ?? NONE;
      if (refs.length > 0 || type === 'committed') addLifecycle(lifecycleSlot(index, order), type, refs);
    }
  };

  events.forEach((event, index) => {
    if (!isOfOne(event, IN_STREAM)) return;
    switch (event.type) {
      case 'BranchStarted': {
        const type = event.how === 'fork' ? 'forked' : 'rolled_back';
        const payload: LifecyclePayload = { payload: { cycle: open - 1 }, type };
        add(lifecycleSlot(index), 'lifecycle', open, payload);
        return;
      }
      case 'InterventionRecorded': {
        const payload = guardrailContent(events);
        add(lifecycleSlot(index), 'guardrail', open, { payload, type: event.intervention });
        return;
      }
      case 'NodeInserted':
      case 'NodeImported': {
        const { node } = event;
        // No header has the name of an attribute of the stream, so the change concerns the whole node.
        if (isBlock(node)) addBlock(index, node, node.cycle, node as Payload);
        return;
      }
      case 'NodeReplaced': {
        for (const change of changes[index] ?? []) {
          if (!('node' in change) || change.before === undefined || change.after === undefined) continue;
          if (!isBlock(change.after.headers)) continue;
          addLifecycle(lifecycleSlot(index), 'replaced', [change.before.payload]);
          addBlock(index, change.after.headers, open, payloadIn(event));
        }
        return;
      }
      case 'NodeMoved': {
        const refs = blocksUnder(frame, index, event.id);
        if (refs.length > 0) addLifecycle(lifecycleSlot(index), 'moved', refs);
        return;
      }
      case 'NodeRemoved': {
        const refs: EventRef[] = [];
        collectRemovedBlocks(changes[index] ?? NONE, refs);
        if (refs.length > 0) addLifecycle(lifecycleSlot(index), 'removed', refs);
        return;
      }
      case 'NodeExpired':
        noteRemoved('expired', index);
        return;
      case 'NodeCascaded':
        noteRemoved('cascaded', index);
        return;
      case 'NodePruned':
        noteRemoved('pruned', index);
        return;
      case 'TurnSealed':
        atCommit.set('sealed', sealedIn(frame, event.turn.id));
        return;
      case 'SnapshotCommitted':
        commit(index);
        return;
      case 'HistoryStarted':
      case 'NodeHeld':
      case 'SnapshotImported':
      case 'PriorityChanged':
        return;
    }
  });
  return nodes;
};

const isBlock = ({ nodeType }: { readonly nodeType: string }): boolean =>
  !nodeType.startsWith('^') && kindOfType(nodeType) === NODE_KIND.block;

const NONE: readonly never[] = [];

/** Adds the blocks that changes took out of the tree. */
const collectRemovedBlocks = (changes: readonly RecordChange[], refs: EventRef[]): void => {
  for (const change of changes)
    if ('node' in change && change.before !== undefined && change.after === undefined)
      if (isBlock(change.before.headers)) refs.push(change.before.payload);
};

/** The blocks of a turn. Only names follow a commit in a frame, so the state after the frame has what was sealed. */
const sealedIn = ({ state }: AppliedFrame, turn: string): EventRef[] => {
  const refs: EventRef[] = [];
  const node = state.tree.get(turn);
  if (node !== undefined)
    eachInSubtree(node, ({ kind, record }) => {
      if (kind === NODE_KIND.block && record.payload !== null) refs.push(record.payload);
    });
  return refs;
};
