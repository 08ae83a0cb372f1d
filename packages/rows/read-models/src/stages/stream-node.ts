import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { Headers, Payload } from '@stemma/context-tree';

/** The kinds of nodes in the streams of our own histories (compiler-stages: node stream). */
export const NODE_KINDS = ['message', 'tool_call', 'tool_result', 'guardrail', 'lifecycle'] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

/** The types of lifecycle nodes; a row has the number of its type in this list. */
export const LIFECYCLE_TYPES = [
  'moved',
  'removed',
  'replaced',
  'expired',
  'cascaded',
  'pruned',
  'sealed',
  'committed',
  'forked',
  'rolled_back',
] as const;
export type LifecycleType = (typeof LIFECYCLE_TYPES)[number];

/** The payload of a lifecycle node: what happened, in which cycle, and to which nodes of the stream. */
export type LifecyclePayload = {
  readonly type: LifecycleType;
  readonly payload: { readonly cycle: number; readonly nodes?: readonly number[] };
};

/** A node of the stream before it is hashed. `slot` is its place in its frame, see {@link slotOf}. */
export type ProjectedNode = {
  readonly slot: number;
  readonly kind: NodeKind;
  readonly turn: number;
  readonly payload: WideJsonObject;
};

/** Within an event: changes of existing nodes first, then the node that it inserts. A commit has all below 8. */
const SLOTS = 8;
const ENTERS = 1;

/** The slot of the block that the `index`-th event of a frame inserts. */
export const slotOf = (index: number): number => index * SLOTS + ENTERS;

/** The slot for changes of existing nodes by the `index`-th event; commits use several. */
export const lifecycleSlot = (index: number, order = 0): number => index * SLOTS + order;

/** Events in a row of `stage_nodes`. */
const EVENTS_OF_PART = 64;

/** The part of its frame that a node is in, by its slot. */
export const partOfSlot = (slot: number): number => Math.floor(slot / (SLOTS * EVENTS_OF_PART));

/** The event in whose slots a node is. */
export const eventOfSlot = (slot: number): number => Math.floor(slot / SLOTS);

/** Kind and payload of the stream's node for a block (compiler-stages: node stream). */
export const blockNode = (
  { role, kind }: Pick<Headers, 'role' | 'kind'>,
  payload: Payload,
): { readonly kind: NodeKind; readonly payload: WideJsonObject } => {
  const content = payload['content'] ?? null;
  const given = payload['data_name'];
  const name = typeof given === 'string' ? { name: given } : {};
  switch (kind) {
    case 'call':
      return { kind: 'tool_call', payload: callOf(content) };
    case 'result':
      return {
        kind: 'tool_result',
        payload: { call_id: payload['data_tool_call_id'] ?? null, content, ...name },
      };
    default:
      return { kind: 'message', payload: { content, ...name, role: role ?? null } };
  }
};

/**
 * A call as providers write it: `{id, function: {name, arguments}}`, `{id, name, input}`, or what it is as arguments.
 */
const callOf = (content: WideJson): WideJsonObject => {
  if (!isJsonObject(content)) return { arguments: content, call_id: null, name: null };
  const inner = content['function'];
  const call = isJsonObject(inner) ? inner : content;
  return {
    arguments: call['arguments'] ?? call['input'] ?? null,
    call_id: content['id'] ?? content['call_id'] ?? null,
    name: call['name'] ?? null,
  };
};

/** The sorted keys of a payload. */
export const shapeOf = (kind: NodeKind, named: boolean): readonly string[] => {
  switch (kind) {
    case 'message':
      return named ? ['content', 'name', 'role'] : ['content', 'role'];
    case 'tool_call':
      return ['arguments', 'call_id', 'name'];
    case 'tool_result':
      return named ? ['call_id', 'content', 'name'] : ['call_id', 'content'];
    case 'guardrail':
    case 'lifecycle':
      return ['payload', 'type'];
  }
};
