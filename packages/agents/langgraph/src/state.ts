import {
  isJsonObject,
  listOf,
  objectOf,
  textOf,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { langChainMessage, messagesIn, messageToNodes } from '@stemma/importers';
import type { TypedText } from './typed-text.ts';

/** The state of a graph at a checkpoint, as its history holds it. */
export type State = {
  /** The checkpoint without its channels' values. */
  readonly checkpoint: TypedText;
  readonly metadata: TypedText;
  readonly parent: string | null;
  readonly channels: ReadonlyMap<string, Channel>;
  /** The node that says all of this but the channels; null: the branch has none yet. */
  readonly node: string | null;
};

/**
 * A channel at a checkpoint. Messages are stored one by one: a list of them is what stands before it, their texts with commas
 * between, and what stands after it. `isShown`: the messages of a channel of deltas, whose value the checkpoint does not have. A value
 * of null: the channel had one before, and its node is there.
 */
export type Channel =
  | { readonly kind: 'value'; readonly value: TypedText | null; readonly node: string | null }
  | {
      readonly kind: 'messages';
      readonly before: string;
      readonly after: string;
      readonly isShown: boolean;
      readonly messages: readonly StateItem[];
    };

/** A message of a state: its JSON, and the nodes that show it; none: they are not recorded yet. */
export type StateItem = {
  readonly text: string;
  readonly nodes: readonly string[];
  readonly ordinal: number;
};

const DELTA = { before: '{"lc":2,"type":"delta_snapshot","value":', after: '}' } as const;

/** A channel that the serializer gave a value for: of messages, if it is a list of them whose texts give the same bytes again. */
export const channelOf = (value: TypedText): Channel => {
  const whole: Channel = { kind: 'value', value, node: null };
  if (value.type !== 'json' || !/[[{]/.test(value.text.charAt(0))) return whole;
  const isDelta = value.text.startsWith(DELTA.before);
  const parsed = JSON.parse(value.text) as WideJson;
  const list = isDelta ? (objectOf(parsed)['value'] ?? null) : parsed;
  if (messagesIn(list) === null) return whole;
  const { before, after } = isDelta ? DELTA : { before: '', after: '' };
  const channel: Channel = {
    ...{ kind: 'messages', before, after, isShown: false },
    messages: listOf(list).map((message) => ({ text: JSON.stringify(message), nodes: [], ordinal: -1 })),
  };
  return valueOf(channel)?.text === value.text ? channel : whole;
};

/** The value of a channel; null: the checkpoint has none. */
export const valueOf = (channel: Channel): TypedText | null => {
  if (channel.kind === 'value') return channel.value;
  const { before, after, isShown, messages } = channel;
  return isShown
    ? null
    : { type: 'json', text: `${before}[${messages.map(({ text }) => text).join(',')}]${after}` };
};

/** The nodes that show a message; the first holds its JSON too, without repeating the text that is its content. */
export const nodesOfMessage = (text: string, channel: string, ordinal: number): readonly WideJsonObject[] => {
  const value = JSON.parse(text) as WideJson;
  const chat = langChainMessage(value) ?? (value as WideJsonObject);
  const [first, ...others] = messageToNodes(chat, ordinal).map((node): WideJsonObject => ({
    ...node,
    offset: 1,
  }));
  if (first === undefined) throw fail('E_INTERNAL', 'a message has no node');
  return [{ ...first, data_channel: channel, data_value: around(text, first['content']) }, ...others];
};

const around = (text: string, content: WideJson | undefined): WideJsonObject => {
  if (typeof content !== 'string' || content === '') return { text };
  const inner = JSON.stringify(content);
  const at = text.indexOf(inner);
  return at < 0 ? { text } : { before: text.slice(0, at), after: text.slice(at + inner.length) };
};

/** The attributes of the node of a channel; null: it has no value. */
export const nodeOfValue = (value: TypedText | null): WideJsonObject => ({
  content: value?.text ?? null,
  data_type: value?.type ?? null,
});

/** The attributes of the node of a checkpoint. */
export const nodeOfCheckpoint = (id: string, state: Omit<State, 'node'>): WideJsonObject => ({
  ...nodeOfValue(state.metadata),
  data_checkpoint: state.checkpoint,
  data_id: id,
  data_parent: state.parent,
  data_channels: [...state.channels].flatMap(([name, channel]) => {
    if (channel.kind === 'value') return channel.value === null ? [] : [{ name }];
    const { isShown, before, after } = channel;
    return [isShown ? { name, shown: true } : { name, before, after }];
  }),
});

/**
 * The state that the export of a tree holds.
 *
 * @throws E_INPUT_SHAPE if there is no checkpoint in it
 */
export const readState = (exported: WideJson): State => {
  const nodes = [...blocksIn(objectOf(exported)['root'] ?? null)];
  const checkpoint = nodes.find(({ kind }) => kind === 'checkpoint');
  if (checkpoint === undefined) throw fail('E_INPUT_SHAPE', 'the position holds no checkpoint of LangGraph');
  const values = new Map<string, Channel>();
  const messages = new Map<string, StateItem[]>();
  let open: { nodes: string[]; readonly ordinal: WideJson | undefined } | null = null;
  for (const node of nodes) {
    const [channel, id] = [textOf(node['data_channel']), textOf(node['id']) ?? ''];
    if (channel === undefined) {
      if (open !== null && node['data_continues'] === open.ordinal) open.nodes.push(id);
      continue;
    }
    open = null;
    if (node['kind'] === 'channel') {
      const value = node['data_type'] === null ? null : typedIn(node);
      values.set(channel, { kind: 'value', value, node: id });
    } else {
      const own = { nodes: [id], ordinal: objectOf(node['data_message'])['ordinal'] };
      open = own;
      const message = { text: textIn(node), nodes: own.nodes, ordinal: Number(own.ordinal) };
      const of = messages.get(channel);
      if (of === undefined) messages.set(channel, [message]);
      else of.push(message);
    }
  }
  const channels = new Map<string, Channel>();
  for (const entry of listOf(checkpoint['data_channels'])) {
    const { name, before, after, shown } = objectOf(entry);
    const channel = textOf(name) ?? '';
    const value = values.get(channel);
    if (before === undefined && shown === undefined) {
      if (value !== undefined) channels.set(channel, value);
      continue;
    }
    values.delete(channel);
    channels.set(channel, {
      ...{ kind: 'messages', before: textOf(before) ?? '', after: textOf(after) ?? '' },
      ...{ isShown: shown === true, messages: messages.get(channel) ?? [] },
    });
  }
  for (const [channel, value] of values) if (!channels.has(channel)) channels.set(channel, value);
  const stored = objectOf(checkpoint['data_checkpoint']);
  return {
    checkpoint: { type: textOf(stored['type']) ?? '', text: textOf(stored['text']) ?? '' },
    metadata: typedIn(checkpoint),
    parent: textOf(checkpoint['data_parent']) ?? null,
    channels,
    node: textOf(checkpoint['id']) ?? null,
  };
};

const typedIn = (node: WideJsonObject): TypedText => ({
  type: textOf(node['data_type']) ?? '',
  text: textOf(node['content']) ?? '',
});

const textIn = (node: WideJsonObject): string => {
  const { text, before, after } = objectOf(node['data_value']);
  return typeof text === 'string'
    ? text
    : `${textOf(before) ?? ''}${JSON.stringify(node['content'])}${textOf(after) ?? ''}`;
};

function* blocksIn(node: WideJson): Iterable<WideJsonObject> {
  if (!isJsonObject(node)) return;
  const { children } = node;
  if (children === undefined) yield node;
  for (const child of listOf(children)) yield* blocksIn(child);
}
