import type { BranchPosition } from './branch-position.ts';
import type { HistoryEvent } from './catalogue.ts';
import type { RecordedNode } from './recorded-node.ts';

/** What an event is about; every event has one category. */
export type EventCategory =
  /** It starts a branch. */
  | 'start'
  /** It changes nodes of the tree. */
  | 'tree'
  /** It ends a cycle: the tree at this point is a snapshot. */
  | 'snapshot'
  /** It changes the settings of the branch. */
  | 'configuration'
  /** It names or describes a position, and changes none. */
  | 'label'
  /** It records why the other events of its frame exist. */
  | 'intervention'
  /** An actor looked at something; it belongs to no branch. */
  | 'observation'
  /** A model was called with what a position shows, or a provider's API without messages; it changes none. */
  | 'call'
  /** A pool runs on its branch: it was asked for, taken or ended. Or a program ran whose calls are recorded, ran again, or had an effect. It changes no tree. */
  | 'run'
  /** It says what a file had that the history was imported from; it changes no tree. */
  | 'import'
  /** Texts have vectors; it changes no tree. */
  | 'vectors'
  /** Somebody corrects where a call is recorded; it changes no tree. */
  | 'correction'
  /** It says what of the command was not recorded. */
  | 'redaction'
  /** It ends the history. */
  | 'erasure';

/** How a node was removed: by a command, or at a commit by its `ttl`, with another node, or by the policy. */
export type Removal = 'removed' | 'expired' | 'cascaded' | 'pruned';

/** A name for a position of the history. */
export type NamedPosition = BranchPosition & { readonly name: string };

/** A name for a branch, and the id of the branch that has it now. */
export type BranchName = readonly [name: string, branch: number];

export type NodeIds = readonly string[];

/** The facts of one event type for readers that only need what was added, removed, changed or named. */
export type EventFacts<E extends HistoryEvent> = {
  readonly category: EventCategory;
  /** The node in the event. */
  readonly node: (event: E) => RecordedNode | null;
  readonly entered: (event: E) => NodeIds;
  readonly removed: (event: E) => NodeIds;
  /** Null for an event that removes nothing. */
  readonly removal: Removal | null;
  /** The nodes that it changes, and which of their fields; all content and attributes if it replaces them. */
  readonly changed: (event: E) => NodeIds;
  readonly fields: (event: E) => NodeIds;
  readonly payload: (event: E) => { readonly [name: string]: unknown } | null;
  readonly position: (event: E) => NamedPosition | null;
  /** `own` is the branch that the frame belongs to. */
  readonly branches: (event: E, own: number) => readonly BranchName[];
};

type Table = {
  readonly [T in HistoryEvent['type']]: EventFacts<Extract<HistoryEvent, { readonly type: T }>>;
};

const EMPTY: readonly never[] = [];
const none = (): readonly never[] => EMPTY;
const nothing = (): null => null;

const NONE_ENTER = { node: nothing, entered: none };
const NONE_REMOVED = { removed: none, removal: null };
const NONE_CHANGED = { changed: none, fields: none, payload: nothing };
const NO_NODES = { ...NONE_ENTER, ...NONE_REMOVED, ...NONE_CHANGED };
const NO_NAMES = { position: nothing, branches: none };

const idOf = ({ id }: { readonly id: string }): string => id;
const ownId = (event: { readonly id: string }): NodeIds => [event.id];

const PARENT: NodeIds = ['parent'];
const TTL: NodeIds = ['ttl'];
const PRIORITY: NodeIds = ['priority'];

/** The facts of every event type. An event without a row here does not compile (scripts/new-event.int.test.ts). */
export const EVENT_FACTS = {
  HistoryStarted: {
    category: 'start',
    node: nothing,
    entered: ({ ids }) => Object.values(ids),
    ...NONE_REMOVED,
    ...NONE_CHANGED,
    position: nothing,
    branches: (_event, own) => [['main', own]],
  },
  BranchStarted: {
    category: 'start',
    ...NO_NODES,
    position: nothing,
    branches: ({ name, abandoned, parent }, own) => {
      const names: BranchName[] = [];
      if (name !== null) names.push([name, own]);
      if (abandoned !== null) names.push([abandoned, parent]);
      return names;
    },
  },
  NodeInserted: {
    category: 'tree',
    node: ({ node }) => node,
    entered: ({ node }) => [node.id],
    ...NONE_REMOVED,
    ...NONE_CHANGED,
    ...NO_NAMES,
  },
  NodeImported: {
    category: 'tree',
    node: ({ node }) => node,
    entered: ({ node }) => [node.id],
    ...NONE_REMOVED,
    ...NONE_CHANGED,
    ...NO_NAMES,
  },
  NodeReplaced: {
    category: 'tree',
    ...NONE_ENTER,
    ...NONE_REMOVED,
    changed: ownId,
    fields: ({ fields }) => fields,
    payload: ({ payload }) => payload,
    ...NO_NAMES,
  },
  NodeMoved: {
    category: 'tree',
    ...NONE_ENTER,
    ...NONE_REMOVED,
    changed: ({ id, expires }) => [id, ...expires.map(idOf)],
    fields: () => PARENT,
    payload: nothing,
    ...NO_NAMES,
  },
  NodeRemoved: {
    category: 'tree',
    ...NONE_ENTER,
    removed: ({ id, subtree }) => [id, ...subtree],
    removal: 'removed',
    ...NONE_CHANGED,
    ...NO_NAMES,
  },
  NodeExpired: {
    category: 'tree',
    ...NONE_ENTER,
    removed: ownId,
    removal: 'expired',
    ...NONE_CHANGED,
    ...NO_NAMES,
  },
  NodeCascaded: {
    category: 'tree',
    ...NONE_ENTER,
    removed: ownId,
    removal: 'cascaded',
    ...NONE_CHANGED,
    ...NO_NAMES,
  },
  NodePruned: {
    category: 'tree',
    ...NONE_ENTER,
    removed: ownId,
    removal: 'pruned',
    ...NONE_CHANGED,
    ...NO_NAMES,
  },
  NodeHeld: {
    category: 'tree',
    ...NONE_ENTER,
    ...NONE_REMOVED,
    changed: ownId,
    fields: () => TTL,
    payload: nothing,
    ...NO_NAMES,
  },
  TurnSealed: {
    category: 'tree',
    node: ({ turn }) => turn,
    entered: ({ turn }) => [turn.id],
    ...NONE_REMOVED,
    // The event does not name the nodes that are now in the turn.
    ...NONE_CHANGED,
    ...NO_NAMES,
  },
  PriorityChanged: {
    category: 'tree',
    ...NONE_ENTER,
    ...NONE_REMOVED,
    changed: ownId,
    fields: () => PRIORITY,
    payload: nothing,
    ...NO_NAMES,
  },
  SnapshotCommitted: { category: 'snapshot', ...NO_NODES, ...NO_NAMES },
  SnapshotImported: { category: 'snapshot', ...NO_NODES, ...NO_NAMES },
  PolicyConfigured: { category: 'configuration', ...NO_NODES, ...NO_NAMES },
  ConfigurationChanged: { category: 'configuration', ...NO_NODES, ...NO_NAMES },
  PositionNamed: { category: 'label', ...NO_NODES, position: (event) => event, branches: none },
  PositionAnnotated: { category: 'label', ...NO_NODES, ...NO_NAMES },
  HistoryLabelled: { category: 'label', ...NO_NODES, ...NO_NAMES },
  InterventionRecorded: { category: 'intervention', ...NO_NODES, ...NO_NAMES },
  ObservationRecorded: { category: 'observation', ...NO_NODES, ...NO_NAMES },
  CallStarted: { category: 'call', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  CallFinished: { category: 'call', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  ProviderCallRecorded: { category: 'call', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  CallReassigned: { category: 'correction', ...NO_NODES, ...NO_NAMES },
  ConversationLinked: { category: 'correction', ...NO_NODES, ...NO_NAMES },
  CallSteered: { category: 'call', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  CallHeld: { category: 'call', ...NO_NODES, ...NO_NAMES },
  CallReleased: { category: 'call', ...NO_NODES, ...NO_NAMES },
  RunRequested: { category: 'run', ...NO_NODES, ...NO_NAMES },
  RunTaken: { category: 'run', ...NO_NODES, ...NO_NAMES },
  RunEnded: { category: 'run', ...NO_NODES, ...NO_NAMES },
  RunRecorded: { category: 'run', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  RerunEnded: { category: 'run', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  EffectRecorded: { category: 'run', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  ImportRecorded: { category: 'import', ...NO_NODES, ...NO_NAMES },
  ImportLinked: { category: 'import', ...NO_NODES, ...NO_NAMES },
  VectorsRecorded: { category: 'vectors', ...NO_NODES, payload: ({ payload }) => payload, ...NO_NAMES },
  ContentRedacted: { category: 'redaction', ...NO_NODES, ...NO_NAMES },
  HistoryErased: { category: 'erasure', ...NO_NODES, ...NO_NAMES },
} as const satisfies Table;

/** The events of some categories. */
export type EventOf<C extends EventCategory> = {
  [T in HistoryEvent['type']]: (typeof EVENT_FACTS)[T]['category'] extends C
    ? Extract<HistoryEvent, { readonly type: T }>
    : never;
}[HistoryEvent['type']];
