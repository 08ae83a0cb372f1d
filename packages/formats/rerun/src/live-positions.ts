import type { WideJsonObject } from '@stemma/canonical';
import type { LiveStart } from './matches.ts';
import { EMPTY_LIST, openMessageTree, type MessageTree } from './message-tree.ts';
import type { ReadCall, ReadMessage } from './read-call.ts';
import type { RerunCall } from './rerun-call.ts';

/** A live call, and the recorded one that it stands for. */
export type LivePosition = {
  readonly number: number;
  readonly read: ReadCall;
  /** Null: none. */
  readonly call: RerunCall | null;
  /** `stopped`: the agent got an error instead of an answer. `live`: the provider answers it. */
  how: 'served' | 'stopped' | 'live';
  /** Where its conversation left the recording, if it did. */
  readonly start: LiveStart;
  /** Whether a later call went on from it. */
  isContinued: boolean;
  /** Whether the same call again is another attempt of this one. */
  mayRepeat: boolean;
  /** The answer, if it calls tools. */
  answer: WideJsonObject | null;
};

/** Where a call goes on. */
export type FoundPosition = {
  readonly position: LivePosition;
  /**
   * - `repeated`: it is that call again;
   * - `continued`: it begins with the messages of that call and what it was answered with;
   * - `edited`: it holds that answer, or begins with the messages of that call and another answer.
   */
  readonly how: 'repeated' | 'continued' | 'edited';
};

/** The calls of a rerun, and what later ones find them by: as many look-ups as a call has messages. */
export type LivePositions = {
  readonly asked: (position: LivePosition) => void;
  readonly answered: (position: LivePosition, answer: ReadMessage | null, answerId: string | null) => void;
  /** The calls of which this one may be another attempt, the earliest first; undefined: none was the same to the last value. */
  readonly repeated: (call: ReadCall) => readonly LivePosition[] | undefined;
  readonly find: (call: ReadCall) => FoundPosition | undefined;
};

/** Messages from the last one on that are looked for as answers. */
const MOST_LOOKED_FOR = 32;

/** Of positions of equal messages so many are compared with a call, the newest ones. */
const MOST_COMPARED = 256;

/** Positions at the ends of lists, of one reading of the messages: exact or masked. */
type Reading = {
  readonly tree: MessageTree;
  readonly of: (message: ReadMessage) => number;
  readonly asked: Map<number, LivePosition[]>;
  readonly answered: Map<number, LivePosition[]>;
};

export const openLivePositions = (counted: () => void): LivePositions => {
  const open = (of: Reading['of']): Reading => ({
    tree: openMessageTree(counted),
    of,
    asked: new Map(),
    answered: new Map(),
  });
  const exact = open((message) => message.exact);
  const masked = open((message) => message.masked);
  const calls = new Map<string, LivePosition[]>();
  const byAnswer = new Map<number, LivePosition>();
  const byAnswerId = new Map<string, LivePosition>();
  const both = [exact, masked];
  return {
    asked: (position) => {
      const { read } = position;
      for (const reading of both) addTo(reading.asked, listOf(reading, read), position);
      addTo(calls, callKey(read, listOf(exact, read)), position);
    },
    answered: (position, answer, answerId) => {
      if (answerId !== null) byAnswerId.set(answerId, position);
      if (answer === null) return;
      byAnswer.set(answer.masked, position);
      for (const reading of both) {
        const list = reading.tree.add(listOf(reading, position.read), reading.of(answer));
        addTo(reading.answered, list, position);
      }
    },
    repeated: (call) => {
      const list = existingList(exact, call);
      const key = list === undefined ? '' : callKey(call, list);
      const known = calls.get(key);
      if (known === undefined) return undefined;
      const left = known.filter(({ mayRepeat }) => mayRepeat);
      calls.set(key, left);
      return left;
    },
    find: (call) => {
      counted();
      const named = call.previous === null ? undefined : byAnswerId.get(call.previous);
      if (named !== undefined) return { position: named, how: 'continued' };
      const continued = deepest(
        both.map((reading) => endsOf(reading, call, 'answered')),
        call,
      );
      if (continued !== undefined && !continued.position.isContinued)
        return { position: continued.position, how: 'continued' };
      const depth = continued?.depth ?? 0;
      const answered = newestAnswered(call, depth, byAnswer, counted);
      if (answered !== undefined) return { position: answered, how: 'edited' };
      const asked = deepest(
        both.map((reading) =>
          endsOf(reading, call, 'asked').filter((each) => call.messages[each.depth]?.role === 'assistant'),
        ),
        call,
      );
      if (asked !== undefined && asked.depth > depth) return { position: asked.position, how: 'edited' };
      return continued && { position: continued.position, how: 'continued' };
    },
  };
};

/** Equal for calls that are the same to the last value. */
const callKey = ({ api, path, head }: ReadCall, list: number): string =>
  `${api} ${head.exact} ${list} ${path ?? ''}`;

const addTo = <K>(map: Map<K, LivePosition[]>, key: K, position: LivePosition): void => {
  const known = map.get(key);
  if (known === undefined) map.set(key, [position]);
  else known.push(position);
};

const listOf = ({ tree, of }: Reading, { messages }: ReadCall): number =>
  messages.reduce((list, message) => tree.add(list, of(message)), EMPTY_LIST);

const existingList = ({ tree, of }: Reading, { messages }: ReadCall): number | undefined => {
  let list: number | undefined = EMPTY_LIST;
  for (const message of messages) {
    list = tree.follow(list, of(message));
    if (list === undefined) return undefined;
  }
  return list;
};

/** Positions that a list passes, with how many of its messages they have. */
type Passed = { readonly depth: number; readonly positions: readonly LivePosition[] };

const endsOf = (reading: Reading, { messages }: ReadCall, what: 'asked' | 'answered'): Passed[] => {
  const passed: Passed[] = [];
  let list: number | undefined = EMPTY_LIST;
  for (const [i, message] of messages.entries()) {
    list = reading.tree.follow(list, reading.of(message));
    if (list === undefined) break;
    const positions = reading[what].get(list);
    if (positions !== undefined) passed.push({ depth: i + 1, positions });
  }
  return passed;
};

/** Of the readings' deepest positions the deeper one; at one depth that of the first reading. */
const deepest = (
  readings: readonly (readonly Passed[])[],
  call: ReadCall,
): { readonly position: LivePosition; readonly depth: number } | undefined => {
  let best: Passed | undefined;
  for (const passed of readings) {
    const last = passed.at(-1);
    if (last !== undefined && (best === undefined || last.depth > best.depth)) best = last;
  }
  return best && { position: closest(best.positions, call), depth: best.depth };
};

/** Of positions of equal messages, one from which no call went on; of several the one with the most messages to the last value. */
const closest = (positions: readonly LivePosition[], call: ReadCall): LivePosition => {
  const newest = positions.slice(-MOST_COMPARED);
  const open = newest.filter(({ isContinued }) => !isContinued);
  const candidates = open.length > 0 ? open : newest;
  let best = candidates[0] as LivePosition;
  if (candidates.length === 1) return best;
  let most = -1;
  for (const position of candidates) {
    const same = position.read.messages.filter(({ exact }, i) => exact === call.messages[i]?.exact).length;
    if (same > most) [best, most] = [position, same];
  }
  return best;
};

/** The position from which no call went on, and whose answer stands behind a place of the list, the last one. */
const newestAnswered = (
  { messages }: ReadCall,
  after: number,
  byAnswer: ReadonlyMap<number, LivePosition>,
  counted: () => void,
): LivePosition | undefined => {
  const least = Math.max(after, messages.length - MOST_LOOKED_FOR);
  for (let i = messages.length - 1; i >= least; i--) {
    const message = messages[i] as ReadMessage;
    if (message.role !== 'assistant') continue;
    counted();
    const found = byAnswer.get(message.masked);
    if (found !== undefined && !found.isContinued) return found;
  }
  return undefined;
};
