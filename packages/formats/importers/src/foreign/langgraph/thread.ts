import { compareCodePoints, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { openChatItems, type ChatItems } from '../chat-items.ts';
import { timeOf } from '../fields.ts';
import type { ForeignItem } from '../item.ts';
import { isLangChain } from '../said/langchain.ts';
import { itemsOfLangChain } from '../said/langchain-items.ts';
import { isUnchanged, messagesIn, nameOf, withWrites, type StateMessage } from './messages.ts';
import type { StoredState } from './stored.ts';

/** The channel of messages that LangGraph's own states have. */
const MESSAGES = 'messages';

/** What tasks wrote that no channel holds afterwards. */
const OF_TASKS: ReadonlySet<string> = new Set(['__interrupt__', '__resume__', '__error__']);

/** Checkpoints of one thread in one namespace, as conversations: one for each channel that holds messages. */
export type StateReader = {
  /** Parents before their children. */
  readonly add: (checkpoint: StoredState) => Iterable<ForeignItem>;
  readonly end: () => Iterable<ForeignItem>;
};

/** A message of a state, and the item that it is. */
type Shown = { readonly message: StateMessage; readonly item: string; readonly before: Shown | null };

/** What the messages of a channel are at a checkpoint. */
type Tip = {
  /** The item that the next one follows; null: none has come. */
  readonly item: string | null;
  readonly last: Shown | null;
};

const NOTHING: Tip = { item: null, last: null };

type Known = {
  readonly tips: ReadonlyMap<string, Tip>;
  readonly versions: StoredState['versions'];
  readonly writes: StoredState['writes'];
  /** True until a checkpoint follows, which has what its tasks wrote. */
  isLast: boolean;
};

/** @param seen the ids of messages that the thread had in any of its namespaces: where they are shown again, they count no more */
export const openStateReader = (seen: Set<string>): StateReader => {
  const known = new Map<string, Known>();
  const channels = new Map<string, { readonly key: string; readonly items: ChatItems }>();
  let first: string | undefined;
  let current: string | undefined;

  function* conversation(channel: string, checkpoint: StoredState): Generator<ForeignItem, ChatItems> {
    const { thread, ns, version } = checkpoint;
    // Other databases have threads of the same name.
    const key = [thread, ns, channel, first].join('\n');
    const own = channels.get(channel) ?? { key, items: openChatItems() };
    channels.set(channel, own);
    if (current !== channel) {
      current = channel;
      const title = [thread, ns, channel === MESSAGES ? '' : channel].filter((part) => part !== '').join(' ');
      yield { kind: 'conversation', key, title, version, ...(ns !== '' && { sidechain: true }) };
    }
    return own.items;
  }

  function* channelItems(
    checkpoint: StoredState,
    channel: string,
    before: Known | undefined,
  ): Generator<ForeignItem, Tip> {
    const tip = before?.tips.get(channel) ?? NOTHING;
    const state = stateOf(checkpoint, channel, tip, before?.writes ?? []);
    if (state === null) return tip;
    const items = yield* conversation(channel, checkpoint);
    return yield* itemsOfState(checkpoint, tip, state, { items, seen });
  }

  return {
    *add(checkpoint) {
      first ??= checkpoint.id;
      const { id, parent, unread } = checkpoint;
      const before = parent === null ? undefined : known.get(parent);
      const where = `checkpoint ${id}`;
      if (parent !== null && before === undefined) yield { kind: 'warning', code: 'W_PARENT_MISSING', where };
      if (unread.length > 0) yield { kind: 'warning', code: 'W_VALUE_UNREAD', where };
      for (const what of unread) yield { kind: 'dropped', what };
      const tips = new Map(before?.tips);
      for (const channel of messageChannels(checkpoint, tips))
        tips.set(channel, yield* channelItems(checkpoint, channel, before));
      yield* otherChannels(checkpoint, before, tips);
      if (before !== undefined) before.isLast = false;
      known.set(id, { tips, versions: checkpoint.versions, writes: checkpoint.writes, isLast: true });
    },
    *end() {
      for (const { writes, isLast } of known.values())
        for (const { channel } of writes)
          if (isLast && !OF_TASKS.has(channel)) yield dropped(`pending write ${channel}`);
    },
  };
};

const dropped = (what: string): ForeignItem => ({ kind: 'dropped', what: what.slice(0, 80) });

/** The channels that hold messages, or held them before, LangGraph's own first. */
const messageChannels = (
  { channels, deltas }: StoredState,
  tips: ReadonlyMap<string, Tip>,
): readonly string[] => {
  const found = new Set(tips.keys());
  for (const [channel, value] of channels ?? [])
    if (!found.has(channel) && messagesIn(value) !== null) found.add(channel);
  for (const channel of deltas) found.add(channel);
  return [...found].sort((a, b) => (a === MESSAGES ? -1 : b === MESSAGES ? 1 : compareCodePoints(a, b)));
};

/** The messages of a channel at a checkpoint; null: it does not say, or holds none and held none. */
const stateOf = (
  { channels, deltas }: StoredState,
  channel: string,
  { last }: Tip,
  writes: StoredState['writes'],
): readonly StateMessage[] | null => {
  const stated = channels?.get(channel);
  if (stated !== undefined) {
    const isEmpty = Array.isArray(stated) && stated.length === 0;
    return messagesIn(stated) ?? (isEmpty && last !== null ? [] : null);
  }
  if (!deltas.has(channel)) return null;
  const given = writes.flatMap((write) =>
    write.channel === channel && write.value !== undefined ? [write.value] : [],
  );
  return given.length === 0
    ? null
    : withWrites(
        shownIn(last).map(({ message }) => message),
        given,
      );
};

const shownIn = (last: Shown | null): readonly Shown[] => {
  const found: Shown[] = [];
  for (let at = last; at !== null; at = at.before) found.push(at);
  return found.reverse();
};

/** What of a checkpoint is no message, and what its tasks wrote beside. */
function* otherChannels(
  { channels, versions, writes }: StoredState,
  before: Known | undefined,
  tips: ReadonlyMap<string, Tip>,
): Iterable<ForeignItem> {
  for (const [channel, value] of channels ?? []) {
    if (Array.isArray(value) && value.length === 0) continue;
    const isNew = before === undefined || versions[channel] !== before.versions[channel];
    if (!tips.has(channel) && isNew) yield dropped(`channel ${channel}`);
  }
  for (const { channel } of writes) if (OF_TASKS.has(channel)) yield dropped(`write ${channel}`);
}

/**
 * What a checkpoint changed of the messages: those that are gone leave, in one step, with all that stand behind a changed or an inserted one;
 * then the others come, those of them that were there before once more.
 */
function* itemsOfState(
  { id, at }: StoredState,
  tip: Tip,
  state: readonly StateMessage[],
  { items, seen }: { readonly items: ChatItems; readonly seen: Set<string> },
): Generator<ForeignItem, Tip> {
  const shown = shownIn(tip.last);
  const kept: Shown[] = [];
  for (const each of shown) {
    const next = state[kept.length];
    if (next !== undefined && isUnchanged(each.message, next)) kept.push(each);
  }
  let { item: after, last } = tip;
  const time = timeOf(at);
  if (kept.length < shown.length) {
    const item = `${id}:removal`;
    const keeps = kept.map((each) => each.item);
    yield { kind: 'compaction', id: item, after, at: time, keeps, ofSystem: true };
    [after, last] = [item, null];
    for (const each of kept) last = { ...each, before: last };
  }
  const gone = new Set(kept.length < shown.length ? shown.map(({ message }) => nameOf(message)) : []);
  for (const [index, message] of state.slice(kept.length).entries()) {
    const item = `${id}:${index}`;
    const name = nameOf(message);
    const again = message.id === undefined ? gone.has(name) : seen.has(name);
    const isEdited = message.id !== undefined && !again && seen.has(message.id);
    if (message.id !== undefined) seen.add(message.id).add(name);
    for (const each of itemsOfMessage(message.value, items, { id: item, after, at: time }))
      yield again || isEdited ? shownAgain(each, again) : each;
    [after, last] = [item, { message, item, before: last }];
  }
  return { item: after, last };
}

type Location = { readonly id: string; readonly after: string | null; readonly at: number | undefined };

const itemsOfMessage = (value: WideJson, items: ChatItems, location: Location): Iterable<ForeignItem> =>
  isLangChain(value)
    ? itemsOfLangChain(value, items, location)
    : [items.add(value as WideJsonObject, location)];

/** A message that the thread had before is no other call, whoever changed it. */
const shownAgain = (item: ForeignItem, again: boolean): ForeignItem => {
  if (item.kind === 'message') return { ...item, again };
  if (item.kind !== 'call' || item.answer === null) return item;
  const { id, after, at, answer } = item;
  return { kind: 'message', id, after, at, role: 'assistant', messages: [answer], again };
};
