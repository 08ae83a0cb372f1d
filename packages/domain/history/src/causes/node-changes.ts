import {
  idOf,
  kindOfType,
  NODE_KIND,
  type FixedRecord,
  type NodeRecord,
  type RecordChange,
  type TurnRecord,
} from '@stemma/context-tree';
import { isOfOne, type HistoryEvent } from '@stemma/events';
import type { AppliedFrame } from '../applied-frame.ts';
import type { Cause, Explains } from './cause.ts';

/** What one recorded event did to one node. Fields that it did not set are undefined. */
export type NodeChange = {
  readonly id: string;
  /** The event of the frame, by index. */
  readonly index: number;
  readonly cause: Cause;
  /**
   * What the event explains. A replacement by the same content changes nothing, which the event alone does not show.
   */
  readonly explains: Explains;
  /** The id of the parent from this event on; null for the root. */
  readonly parent?: string | null;
  /** The cycle whose commit seals the node, if it is now directly under `^ah`; null: it is not. */
  readonly seals?: number | null;
  /** `ttl` as given, and the first cycle without the node; set if the event changes one of them. */
  readonly ttl?: number | null;
  readonly expires?: number | null;
  readonly priority?: number;
};

/** The cycle that was open when a frame was decided; for a commit or an import, the cycle that it ends. */
export const cycleOfFrame = ({ snapshot, state }: Pick<AppliedFrame, 'snapshot' | 'state'>): number =>
  snapshot === null ? state.tree.open : snapshot.cycle;

/**
 * What a frame's events did to nodes, in order. Ageing, and the new parent of what a commit seals, are not included:
 * they follow from `expires`, `seals` and the commit, so that the cost of a frame depends on its changes only (see
 * `attributeFrame`).
 */
export const nodeChangesOf = (frame: AppliedFrame): readonly NodeChange[] => {
  // A fork, a rollback or an observation changes no node, and reading its state would load a branch.
  if (frame.observed || (frame.started !== null && frame.started.how !== 'start')) return [];
  const found: NodeChange[] = [];
  const context = sealContext(frame);
  const imported = new Set<string>();
  for (const event of frame.events) if (event.type === 'NodeImported') imported.add(event.node.id);
  frame.events.forEach((event, index) => {
    for (const change of nodeChangesOfEvent(context, event, frame.changes[index] ?? [], index))
      // The import brings the root and regions; the start of the history does not.
      if (!(event.type === 'HistoryStarted' && imported.has(change.id))) found.push(change);
  });
  return found;
};

/** What the node changes of a frame refer to. */
type SealContext = {
  readonly seq: string;
  readonly ah: string;
  /** The cycle whose commit seals the nodes in the head after the frame, or sealed them in the frame. */
  readonly seals: number;
};

/** An import is the snapshot of its own cycle: the next commit seals the nodes in its head. */
const sealContext = (frame: AppliedFrame): SealContext => {
  const { tree } = frame.state;
  const imported = frame.events.some(({ type }) => type === 'SnapshotImported');
  return { seq: idOf(tree.seq), ah: idOf(tree.ah), seals: imported ? tree.open : cycleOfFrame(frame) };
};

/** The categories of events that change nodes. */
const ON_NODES = ['start', 'tree'] as const;

const nodeChangesOfEvent = (
  context: SealContext,
  event: HistoryEvent,
  changes: readonly RecordChange[],
  index: number,
): readonly NodeChange[] => {
  if (!isOfOne(event, ON_NODES)) return [];
  switch (event.type) {
    case 'HistoryStarted':
      return changes.map((change) => ({
        ...entered(change, mutation('start'), index),
        parent: 'fixed' in change && change.fixed !== 'root' ? event.ids.root : null,
      }));
    case 'NodeInserted':
      return changes.map((change) => enteredUnder(context, change, event.parent, mutation('insert'), index));
    case 'NodeImported':
      return changes.map((change) => enteredUnder(context, change, event.parent, { kind: 'import' }, index));
    case 'TurnSealed':
      return changes.map((change) =>
        enteredUnder(context, change, context.seq, { kind: 'sealing', turn: event.turn.id }, index),
      );
    case 'NodeReplaced':
      return changes.map((change) => ({
        id: idOfChange(change),
        index,
        cause: mutation('replace'),
        explains:
          kindOfType(recordOf(change)?.headers.nodeType ?? '') === NODE_KIND.block
            ? ['content_hash']
            : event.fields,
      }));
    case 'NodeMoved':
      return movedNodes(context, event, changes, index);
    case 'NodeRemoved':
      return [event.id, ...event.subtree].map((id) => ({
        id,
        index,
        cause: mutation('remove', id === event.id ? null : event.id),
        explains: 'removed',
      }));
    case 'NodeExpired':
      return [{ id: event.id, index, cause: { kind: 'expiry' }, explains: 'removed' }];
    case 'NodeCascaded': {
      const { why, by } = event;
      return [{ id: event.id, index, cause: { kind: 'cascade', why, by }, explains: 'removed' }];
    }
    case 'NodePruned': {
      const { rule, rank } = event;
      return [{ id: event.id, index, cause: { kind: 'pruning', rule, rank }, explains: 'removed' }];
    }
    case 'NodeHeld':
      return [
        { id: event.id, index, cause: { kind: 'hold', by: event.by }, explains: [], ttl: 0, expires: null },
      ];
    case 'PriorityChanged': {
      const { id, priority } = event;
      return [{ id, index, cause: mutation('priority'), explains: ['priority'], priority }];
    }
    case 'BranchStarted':
      return [];
  }
};

const mutation = (op: Extract<Cause, { kind: 'mutation' }>['op'], by: string | null = null): Cause => ({
  kind: 'mutation',
  op,
  by,
});

const recordOf = ({ before, after }: RecordChange): NodeRecord | TurnRecord | FixedRecord | undefined =>
  after ?? before;

const idOfChange = (change: RecordChange): string =>
  'node' in change ? change.node : 'turn' in change ? change.turn : change.after.headers.id;

const lifetime = (change: RecordChange): Pick<NodeChange, 'ttl' | 'expires'> => {
  const record = recordOf(change);
  if (record === undefined || 'fixed' in change) return { ttl: null, expires: null };
  return { ttl: record.headers.ttl, expires: (record as NodeRecord | TurnRecord).expires };
};

const entered = (change: RecordChange, cause: Cause, index: number): NodeChange => ({
  id: idOfChange(change),
  index,
  cause,
  explains: 'added',
  seals: null,
  ...lifetime(change),
  priority: recordOf(change)?.headers.priority ?? 0,
});

const enteredUnder = (
  context: SealContext,
  change: RecordChange,
  parent: string | null,
  cause: Cause,
  index: number,
): NodeChange => ({ ...entered(change, cause, index), parent, seals: sealedBy(context, parent) });

const sealedBy = ({ ah, seals }: SealContext, parent: string | null): number | null =>
  parent === ah ? seals : null;

const movedNodes = (
  context: SealContext,
  event: Extract<HistoryEvent, { type: 'NodeMoved' }>,
  changes: readonly RecordChange[],
  index: number,
): readonly NodeChange[] =>
  changes.map((change) => {
    const id = idOfChange(change);
    if (id !== event.id)
      return { id, index, cause: mutation('carry', event.id), explains: [], ...lifetime(change) };
    const { parent } = event;
    return {
      id,
      index,
      cause: mutation('move'),
      explains: ['parent'],
      parent,
      seals: sealedBy(context, parent),
      ...lifetime(change),
    };
  });
