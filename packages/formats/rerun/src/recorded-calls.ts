import { fail } from '@stemma/errors';
import { EMPTY_LIST, type MessageTree } from './message-tree.ts';
import { openPending, type Pending } from './pending.ts';
import type { CallReader, ReadCall } from './read-call.ts';
import type { RerunCall } from './rerun-call.ts';
import type { RecordedConversation, RecordedCycle, Recording } from './recording.ts';

/** The calls of a recording, and what they are found by. */
export type RecordedCalls = {
  readonly all: readonly RerunCall[];
  readonly byLabel: ReadonlyMap<string, RerunCall>;
  /** Calls of the same messages, parameters and tools, but for values that may differ; the earliest first. */
  readonly byKey: ReadonlyMap<string, Pending>;
  /** Those that begin a conversation, in groups: see {@link beginningKeys}. */
  readonly beginnings: ReadonlyMap<string, Pending>;
  /** Beginnings by the label of the call that led to them, alone and with the key of their messages behind it. */
  readonly ledToBy: ReadonlyMap<string, Pending>;
};

/** What a call is looked up by. @param list the list of its messages, masked */
export const callKey = ({ api, path, head }: ReadCall, list: number): string =>
  `${api === 'other' ? `other ${path ?? ''}` : api} ${head.masked} ${list}`;

/** Groups of beginnings that a call might stand for, the closest first: by what is the same, and never by how much is. */
export const beginningKeys = ({ api, path, head, messages }: ReadCall): readonly string[] => {
  const group = api === 'other' ? `other ${path ?? ''}` : api;
  const first = messages[0]?.masked ?? -1;
  return [
    `${group} ${head.masked} ${first}`,
    `${group} first ${first}`,
    `${group} head ${head.masked}`,
    group,
    api === 'other' ? group : 'any',
  ];
};

/** @throws E_INPUT_SHAPE for a label that two calls have, or that is named and that no call has */
export const readRecording = (
  { conversations }: Recording,
  reader: CallReader,
  tree: MessageTree,
): RecordedCalls => {
  const byLabel = new Map<string, RerunCall>();
  const lists = new Map<RerunCall, readonly number[]>();
  for (const conversation of conversations)
    for (const [index, cycle] of conversation.cycles.entries()) {
      if (byLabel.has(cycle.label)) throw fail('E_INPUT_SHAPE', `two calls have the label ${cycle.label}`);
      const read = reader.call(cycle);
      let list = EMPTY_LIST;
      const path = read.messages.map(({ masked }) => (list = tree.add(list, masked)));
      const call = recordedCall(conversation, cycle, index, read, callKey(read, list));
      byLabel.set(cycle.label, call);
      lists.set(call, path);
    }
  const all = [...byLabel.values()].sort((a, b) => compareTimes(a, b));
  for (const [ordinal, call] of all.entries()) call.ordinal = ordinal;
  linkCalls(conversations, byLabel, all, answersOf(all, lists, reader, tree), lists);
  return { all, byLabel, ...indexesOf(all) };
};

const recordedCall = (
  { id, parent }: RecordedConversation,
  cycle: RecordedCycle,
  index: number,
  read: ReadCall,
  key: string,
): RerunCall => ({
  cycle,
  read,
  conversation: id,
  index,
  ordinal: 0,
  parent,
  key,
  isBeginning: true,
  before: null,
  previous: null,
  next: [],
  played: 'no',
  nextAttempt: 0,
});

/** Calls in the order in which they were recorded; of one time, as they were given. */
const compareTimes = (a: RerunCall, b: RerunCall): number => {
  const [x, y] = [a.cycle.at, b.cycle.at];
  return x < y ? -1 : x > y ? 1 : 0;
};

/** Calls by what a later one goes on from: the list of their messages with an answer, or the id of it. */
type Answers = {
  readonly byList: ReadonlyMap<number, readonly RerunCall[]>;
  readonly byId: ReadonlyMap<string, RerunCall>;
};

const answersOf = (
  calls: readonly RerunCall[],
  lists: ReadonlyMap<RerunCall, readonly number[]>,
  reader: CallReader,
  tree: MessageTree,
): Answers => {
  const byList = new Map<number, RerunCall[]>();
  const byId = new Map<string, RerunCall>();
  for (const call of calls)
    for (const { answer, answerId } of call.cycle.attempts) {
      if (answerId !== null && !byId.has(answerId)) byId.set(answerId, call);
      if (answer === null) continue;
      const list = tree.add(lists.get(call)?.at(-1) ?? EMPTY_LIST, reader.message(answer).masked);
      const known = byList.get(list);
      if (known === undefined) byList.set(list, [call]);
      else if (known.at(-1) !== call) known.push(call);
    }
  return { byList, byId };
};

const linkCalls = (
  conversations: readonly RecordedConversation[],
  byLabel: ReadonlyMap<string, RerunCall>,
  calls: readonly RerunCall[],
  answers: Answers,
  lists: ReadonlyMap<RerunCall, readonly number[]>,
): void => {
  const inConversation = new Map<RerunCall, RerunCall>();
  for (const { from, cycles } of conversations)
    for (const [index, { label }] of cycles.entries()) {
      const earlier = index === 0 ? from : (cycles[index - 1]?.label ?? null);
      if (earlier !== null) inConversation.set(callAt(byLabel, label), callAt(byLabel, earlier));
    }
  for (const call of calls) {
    const own = inConversation.get(call) ?? null;
    const known =
      call.read.previous === null
        ? deepest(lists.get(call) ?? [], answers.byList)
        : [answers.byId.get(call.read.previous)].filter((each) => each !== undefined);
    const others = known.filter((each) => each !== call);
    call.isBeginning = others.length === 0;
    call.before = own !== null && (others.length === 0 || others.includes(own)) ? own : (others[0] ?? null);
    call.previous = own;
    call.before?.next.push(call);
    if (own !== null && own !== call.before) own.next.push(call);
  }
};

/** The calls whose messages and answer a list begins with, those of the longest beginning. */
const deepest = (
  path: readonly number[],
  byList: ReadonlyMap<number, readonly RerunCall[]>,
): readonly RerunCall[] => {
  for (let i = path.length - 1; i >= 0; i--) {
    const found = byList.get(path[i] as number);
    if (found !== undefined) return found;
  }
  return [];
};

/** @throws E_INPUT_SHAPE */
export const callAt = (byLabel: ReadonlyMap<string, RerunCall>, label: string): RerunCall => {
  const found = byLabel.get(label);
  if (found === undefined) throw fail('E_INPUT_SHAPE', `the recording has no call ${label}`);
  return found;
};

const indexesOf = (calls: readonly RerunCall[]): Omit<RecordedCalls, 'all' | 'byLabel'> => {
  const byKey = new Map<string, RerunCall[]>();
  const beginnings = new Map<string, RerunCall[]>();
  const ledToBy = new Map<string, RerunCall[]>();
  for (const call of calls) {
    addTo(byKey, call.key, call);
    if (!call.isBeginning) continue;
    for (const key of new Set(beginningKeys(call.read))) addTo(beginnings, key, call);
    if (call.parent === null || call.index > 0) continue;
    addTo(ledToBy, call.parent.call, call);
    addTo(ledToBy, `${call.parent.call} ${call.key}`, call);
  }
  return { byKey: pendingOf(byKey), beginnings: pendingOf(beginnings), ledToBy: pendingOf(ledToBy) };
};

const addTo = (map: Map<string, RerunCall[]>, key: string, call: RerunCall): void => {
  const known = map.get(key);
  if (known === undefined) map.set(key, [call]);
  else known.push(call);
};

const pendingOf = (map: ReadonlyMap<string, readonly RerunCall[]>): ReadonlyMap<string, Pending> =>
  new Map([...map].map(([key, calls]) => [key, openPending(key, calls)]));
