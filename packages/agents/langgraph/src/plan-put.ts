import type { StepRequest } from '@stemma/api';
import type { WideJsonObject } from '@stemma/canonical';
import {
  nodeOfCheckpoint,
  nodeOfValue,
  nodesOfMessage,
  type Channel,
  type StateItem,
  type State,
} from './state.ts';

/** What a put does to the branch of its checkpoint, and the state behind it. */
export type PutPlan = {
  readonly steps: readonly StepRequest[];
  /** The state, once it is known which ids the inserted nodes have, in the order of the steps. */
  readonly stateWith: (inserted: readonly string[]) => State;
};

export type PutInput = {
  readonly before: State | null;
  readonly after: Omit<State, 'node'>;
  readonly id: string;
  /** The name of its position. */
  readonly name: string;
  /** The number of the next message. */
  readonly ordinal: number;
  /** The branch, which stands in the ids of nodes that come there, unless it is the first. */
  readonly branchId: number;
  /** False: the server makes the ids of nodes, as those that the plan would give are used already. */
  readonly named: boolean;
};

/**
 * The steps from the state of a parent to that of its child: values are replaced where they differ; messages that the list still begins
 * with stay, others are removed, and the rest is inserted at the end.
 */
export const planPut = ({ before, after, id, name, ordinal, branchId, named }: PutInput): PutPlan => {
  const suffix = branchId === 0 ? '' : `.${branchId}`;
  const steps: StepRequest[] = [];
  let inserts = 0;
  let next = ordinal;
  /** Where the id of a node is among those that are inserted. */
  const insert = (parent: '^sys' | '^ah', { id: own, ...node }: WideJsonObject): number => {
    const given = named && typeof own === 'string' ? { id: `${own}${suffix}` } : {};
    steps.push({ op: 'insert', parent, node: { ...given, nodeType: 'cb', ...node } });
    return inserts++;
  };
  const pending: ((inserted: readonly string[]) => readonly [string, Channel])[] = [];
  for (const gone of goneNodes(before, after)) steps.push({ op: 'remove', id: gone });
  for (const [channel, state] of withNodes(before, after)) {
    const was = before?.channels.get(channel);
    if (state.kind === 'value') {
      if (was?.kind === 'value' && was.node !== null) {
        const { node, value } = was;
        if (value?.text !== state.value?.text || value?.type !== state.value?.type)
          steps.push({ op: 'replace', id: node, set: nodeOfValue(state.value) });
        pending.push(() => [channel, { ...state, node }]);
        continue;
      }
      const at = insert('^sys', {
        ...{ id: `channel:${channel}`.slice(0, 100), kind: 'channel', key: channel, data_channel: channel },
        ...nodeOfValue(state.value),
      });
      pending.push((inserted) => [channel, { ...state, node: inserted[at] ?? null }]);
      continue;
    }
    const kept = was?.kind === 'messages' ? keptMessages(was.messages, state.messages) : [];
    const came = state.messages.slice(kept.length).map((message) => {
      const own = next++;
      const nodes = nodesOfMessage(message.text, channel, own).map((node) => insert('^ah', node));
      return { text: message.text, nodes, ordinal: own };
    });
    pending.push((inserted) => {
      const added = came.map((message): StateItem => ({
        ...message,
        nodes: message.nodes.map((at) => inserted[at] ?? ''),
      }));
      return [channel, { ...state, messages: [...kept, ...added] }];
    });
  }
  const attributes = nodeOfCheckpoint(id, after);
  const known = before?.node ?? null;
  let made = -1;
  if (known === null) made = insert('^sys', { id: 'checkpoint', kind: 'checkpoint', ...attributes });
  else steps.push({ op: 'replace', id: known, set: attributes });
  steps.push({ op: 'commit' }, { op: 'name', name });
  return {
    steps,
    stateWith: (inserted) => ({
      ...after,
      channels: new Map(pending.map((make) => make(inserted))),
      node: known ?? inserted[made] ?? null,
    }),
  };
};

/** The channels of a state, and those that have none of their values left, whose nodes stay. */
const withNodes = (before: State | null, after: Omit<State, 'node'>): ReadonlyMap<string, Channel> => {
  const channels = new Map(after.channels);
  for (const [name, was] of before?.channels ?? [])
    if (was.kind === 'value' && !channels.has(name)) channels.set(name, { ...was, value: null });
  return channels;
};

/** The messages of the parent that stay: those that the list begins with, in the same order. */
const keptMessages = (was: readonly StateItem[], now: readonly StateItem[]): readonly StateItem[] => {
  const kept: StateItem[] = [];
  for (const message of was) if (message.text === now[kept.length]?.text) kept.push(message);
  return kept;
};

const goneNodes = (before: State | null, after: Omit<State, 'node'>): readonly string[] =>
  [...(before?.channels ?? [])].flatMap(([name, was]) => {
    const now = after.channels.get(name);
    if (was.kind === 'value') return was.node === null || now?.kind !== 'messages' ? [] : [was.node];
    const kept = new Set(now?.kind === 'messages' ? keptMessages(was.messages, now.messages) : []);
    return was.messages.flatMap((message) => (kept.has(message) ? [] : message.nodes));
  });
