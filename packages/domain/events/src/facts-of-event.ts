import type { HistoryEvent } from './catalogue.ts';
import {
  EVENT_FACTS,
  type BranchName,
  type EventCategory,
  type EventFacts,
  type EventOf,
  type NamedPosition,
  type NodeIds,
  type Removal,
} from './facts.ts';
import type { RecordedNode } from './recorded-node.ts';

/** The compiler cannot see that a row belongs to the event whose type selected it. */
const factsOf = (event: HistoryEvent): EventFacts<HistoryEvent> =>
  EVENT_FACTS[event.type] as EventFacts<never> as EventFacts<HistoryEvent>;

/** True for an event of the category. */
export const isOf = <C extends EventCategory>(event: HistoryEvent, category: C): event is EventOf<C> =>
  EVENT_FACTS[event.type].category === category;

/** True for an event of one of the categories. */
export const isOfOne = <C extends EventCategory>(
  event: HistoryEvent,
  categories: readonly C[],
): event is EventOf<C> => (categories as readonly EventCategory[]).includes(EVENT_FACTS[event.type].category);

/** True for an event that starts a branch or changes it: its tree, its snapshots or its settings. */
export const changesBranch = (event: HistoryEvent): boolean => CHANGES[EVENT_FACTS[event.type].category];

const CHANGES: { readonly [C in EventCategory]: boolean } = {
  start: true,
  tree: true,
  snapshot: true,
  configuration: true,
  label: false,
  vectors: false,
  intervention: false,
  observation: false,
  call: false,
  run: false,
  import: false,
  correction: false,
  redaction: false,
  erasure: false,
};

/** True for an event that may add, remove or change nodes of the working state. */
export const changesTree = (event: HistoryEvent): boolean =>
  isOf(event, 'tree') || isOf(event, 'start') || isOf(event, 'snapshot');

/** The node in an event, including a turn; null if it holds none. */
export const nodeIn = (event: HistoryEvent): RecordedNode | null => factsOf(event).node(event);

/** The ids of nodes that an event adds: no other node of the history ever has one of them. */
export const enteredIds = (event: HistoryEvent): NodeIds => factsOf(event).entered(event);

/** The ids of the nodes that an event removes, in canonical order; see {@link removalBy}. */
export const removedIds = (event: HistoryEvent): NodeIds => factsOf(event).removed(event);

/** How an event removes its {@link removedIds}; null if it removes none. */
export const removalBy = (event: HistoryEvent): Removal | null => EVENT_FACTS[event.type].removal;

/** The ids of nodes that an event names and may change; see {@link changedFields}. */
export const changedIds = (event: HistoryEvent): NodeIds => factsOf(event).changed(event);

/** The fields that an event sets on its {@link changedIds}: `content`, headers and attributes. */
export const changedFields = (event: HistoryEvent): NodeIds => factsOf(event).fields(event);

/** The new content and attributes of a node that an event changes, complete; null if it does not set them. */
export const newPayload = (event: HistoryEvent): { readonly [name: string]: unknown } | null =>
  factsOf(event).payload(event);

/** The ids of all nodes that an event adds, removes or may change; an id may occur twice. */
export const affectedIds = (event: HistoryEvent): NodeIds => {
  const facts = factsOf(event);
  return [...facts.entered(event), ...facts.removed(event), ...facts.changed(event)];
};

/** The position that an event names, with the name; null if it names none. */
export const namedPosition = (event: HistoryEvent): NamedPosition | null => factsOf(event).position(event);

/** The names that an event gives to branches; `own` is the branch that its frame belongs to. */
export const branchNames = (event: HistoryEvent, own: number): readonly BranchName[] =>
  factsOf(event).branches(event, own);

/** The {@link enteredIds} of all events of a frame. */
export const enteredIdsIn = (events: readonly HistoryEvent[]): NodeIds => events.flatMap(enteredIds);

/** The names of all {@link namedPosition}s of a frame. */
export const positionNamesIn = (events: readonly HistoryEvent[]): readonly string[] =>
  events.flatMap((event) => namedPosition(event)?.name ?? []);

/** The {@link branchNames} of all events of a frame, in order. */
export const branchNamesIn = (events: readonly HistoryEvent[], own: number): readonly BranchName[] =>
  events.flatMap((event) => branchNames(event, own));
