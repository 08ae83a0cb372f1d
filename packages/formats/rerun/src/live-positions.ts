import type { WideJsonObject } from '@stemma/canonical';
import { openKnownPrefixes } from './known-prefixes.ts';
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
  /** The lists that the messages of a call are, one after another. */
  readonly pathOf: (call: ReadCall) => readonly number[];
  /** The list of all messages of a call, with another one. */
  readonly listWith: (call: ReadCall, message: ReadMessage) => number;
  readonly asked: Map<number, LivePosition[]>;
  readonly answered: Map<number, LivePosition[]>;
};

const openReading = (tree: MessageTree, of: (message: ReadMessage) => number): Reading => {
  const paths = openKnownPrefixes<ReadMessage, number>();
  const pathOf = ({ messages }: ReadCall): readonly number[] =>
    paths(messages, (message, before) => tree.add(before ?? EMPTY_LIST, of(message)));
  return {
    pathOf,
    listWith: (call, message) => tree.add(endOf(pathOf(call)), of(message)),
    asked: new Map(),
    answered: new Map(),
  };
};

const endOf = (path: readonly number[]): number => path.at(-1) ?? EMPTY_LIST;

export const openLivePositions = (counted: () => void): LivePositions => {
  const exact = openReading(openMessageTree(counted), (message) => message.exact);
  const masked = openReading(openMessageTree(counted), (message) => message.masked);
  const calls = new Map<string, LivePosition[]>();
  const byAnswer = new Map<number, LivePosition>();
  const byAnswerId = new Map<string, LivePosition>();
  const both = [exact, masked];
  return {
    asked: (position) => {
      const { read } = position;
      for (const reading of both) addTo(reading.asked, endOf(reading.pathOf(read)), position);
      addTo(calls, callKey(read, endOf(exact.pathOf(read))), position);
    },
    answered: (position, answer, answerId) => {
      if (answerId !== null) byAnswerId.set(answerId, position);
      if (answer === null) return;
      byAnswer.set(answer.masked, position);
      for (const reading of both) addTo(reading.answered, reading.listWith(position.read, answer), position);
    },
    repeated: (call) => {
      const key = callKey(call, endOf(exact.pathOf(call)));
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
      const continued = deepest(both, call, 'answered', () => true);
      if (continued !== undefined && !continued.position.isContinued)
        return { position: continued.position, how: 'continued' };
      const depth = continued?.depth ?? 0;
      const answered = newestAnswered(call, depth, byAnswer, counted);
      if (answered !== undefined) return { position: answered, how: 'edited' };
      const asked = deepest(both, call, 'asked', (at) => call.messages[at]?.role === 'assistant');
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

/**
 * The position that has the most of the messages that a call begins with; of two readings with as many that of the first.
 *
 * @param holds of how many messages they may be
 */
const deepest = (
  readings: readonly Reading[],
  call: ReadCall,
  what: 'asked' | 'answered',
  holds: (depth: number) => boolean,
): { readonly position: LivePosition; readonly depth: number } | undefined => {
  const paths = readings.map((reading) => ({ path: reading.pathOf(call), ends: reading[what] }));
  for (let depth = call.messages.length; depth > 0; depth--) {
    if (!holds(depth)) continue;
    for (const { path, ends } of paths) {
      const positions = ends.get(path[depth - 1] as number);
      if (positions !== undefined) return { position: closest(positions, call), depth };
    }
  }
  return undefined;
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
