import {
  idOf,
  kindOfType,
  NODE_KIND,
  type Change,
  type FixedRecord,
  type NodeRecord,
  type TurnRecord,
} from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import type { AppliedFrame } from '../applied-frame.ts';
import type { Cause, Explains } from './cause.ts';

/** What one recorded event did to one node. What it did not set is undefined. */
export type Touch = {
  readonly id: string;
  /** Which event of the frame. */
  readonly index: number;
  readonly cause: Cause;
  /** What it accounts for, as far as the event alone tells: a replacement by the same content changes nothing. */
  readonly explains: Explains;
  /** The id of the parent from here on; null for the root. */
  readonly parent?: string | null;
  /** It lies directly under `^ah` from here on: the commit of this cycle seals it; null: it does not. */
  readonly seals?: number | null;
  /** `ttl` as given, and the first cycle without it; set by whatever changes one of them. */
  readonly ttl?: number | null;
  readonly expires?: number | null;
  readonly priority?: number;
};

/** The cycle that runs while a frame is decided: of a commit or an import the one that it ends. */
export const cycleOfFrame = ({ snapshot, state }: Pick<AppliedFrame, 'snapshot' | 'state'>): number =>
  snapshot === null ? state.tree.open : snapshot.cycle;

/**
 * What a frame's events did to nodes, in order. Ageing, and the parent of what a commit seals, are not among it: they
 * follow from `expires`, `seals` and the commit, so that a frame costs what it changed (see `attributeFrame`).
 */
export const touchesOf = (frame: AppliedFrame): readonly Touch[] => {
  // What only starts a lineage or looks at one touches nothing, and its state is not to be asked for.
  if (frame.observed || (frame.started !== null && frame.started.how !== 'start')) return [];
  const touches: Touch[] = [];
  const ground = groundOf(frame);
  const imported = new Set<string>();
  for (const event of frame.events) if (event.type === 'NodeImported') imported.add(event.node.id);
  frame.events.forEach((event, index) => {
    for (const touch of touchesOfEvent(ground, event, frame.changes[index] ?? [], index))
      // Root and regions of an import are brought by it, not by the start of the history.
      if (!(event.type === 'HistoryStarted' && imported.has(touch.id))) touches.push(touch);
  });
  return touches;
};

/** What the touches of a frame refer to. */
type Ground = {
  readonly seq: string;
  readonly ah: string;
  /** The cycle whose commit seals what lies in the head after the frame, or sealed it in the frame. */
  readonly seals: number;
};

/** An import is the snapshot of its own cycle: what lies in its head is sealed by the next. */
const groundOf = (frame: AppliedFrame): Ground => {
  const { tree } = frame.state;
  const imported = frame.events.some(({ type }) => type === 'SnapshotImported');
  return { seq: idOf(tree.seq), ah: idOf(tree.ah), seals: imported ? tree.open : cycleOfFrame(frame) };
};

const touchesOfEvent = (
  ground: Ground,
  event: HistoryEvent,
  changes: readonly Change[],
  index: number,
): readonly Touch[] => {
  switch (event.type) {
    case 'HistoryStarted':
      return changes.map((change) => ({
        ...entered(change, mutation('start'), index),
        parent: 'fixed' in change && change.fixed !== 'root' ? event.ids.root : null,
      }));
    case 'NodeInserted':
      return changes.map((change) => under(ground, change, event.parent, mutation('insert'), index));
    case 'NodeImported':
      return changes.map((change) => under(ground, change, event.parent, { kind: 'import' }, index));
    case 'TurnSealed':
      return changes.map((change) =>
        under(ground, change, ground.seq, { kind: 'sealing', turn: event.turn.id }, index),
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
      return moved(ground, event, changes, index);
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
    case 'LineageStarted':
    case 'SnapshotCommitted':
    case 'SnapshotImported':
    case 'PolicyConfigured':
    case 'ConfigurationChanged':
    case 'InterventionRecorded':
    case 'ObservationRecorded':
    case 'PositionNamed':
    case 'PositionAnnotated':
      return [];
  }
};

const mutation = (op: Extract<Cause, { kind: 'mutation' }>['op'], by: string | null = null): Cause => ({
  kind: 'mutation',
  op,
  by,
});

const recordOf = ({ before, after }: Change): NodeRecord | TurnRecord | FixedRecord | undefined =>
  after ?? before;

const idOfChange = (change: Change): string =>
  'node' in change ? change.node : 'turn' in change ? change.turn : change.after.headers.id;

const lifetime = (change: Change): Pick<Touch, 'ttl' | 'expires'> => {
  const record = recordOf(change);
  if (record === undefined || 'fixed' in change) return { ttl: null, expires: null };
  return { ttl: record.headers.ttl, expires: (record as NodeRecord | TurnRecord).expires };
};

const entered = (change: Change, cause: Cause, index: number): Touch => ({
  id: idOfChange(change),
  index,
  cause,
  explains: 'added',
  seals: null,
  ...lifetime(change),
  priority: recordOf(change)?.headers.priority ?? 0,
});

const under = (
  ground: Ground,
  change: Change,
  parent: string | null,
  cause: Cause,
  index: number,
): Touch => ({ ...entered(change, cause, index), parent, seals: sealedBy(ground, parent) });

const sealedBy = ({ ah, seals }: Ground, parent: string | null): number | null =>
  parent === ah ? seals : null;

const moved = (
  ground: Ground,
  event: Extract<HistoryEvent, { type: 'NodeMoved' }>,
  changes: readonly Change[],
  index: number,
): readonly Touch[] =>
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
      seals: sealedBy(ground, parent),
      ...lifetime(change),
    };
  });
