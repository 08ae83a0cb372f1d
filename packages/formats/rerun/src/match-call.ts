import { argumentTexts, isToldIn, userTexts } from '@stemma/model-apis';
import { isSameCall, openCallDraft, worldDifference, type CallDraft } from './compare-calls.ts';
import { findDifference } from './difference/find-difference.ts';
import { calledTool, isList } from './difference/message-text.ts';
import type { LivePosition } from './live-positions.ts';
import type { LiveCall, LiveStart, Match, Served } from './matches.ts';
import type { ReadCall } from './read-call.ts';
import type { RerunCall } from './rerun-call.ts';
import { beginningKeys, callKey } from './recorded-calls.ts';
import { leaveOut, type LiveEntry, type RerunState } from './rerun-state.ts';
import { servedAttempts } from './plan.ts';
import { commitBindings, replacementsOf, type CallTimes } from './values/ledger.ts';
import { replaceInValue } from './values/replace-in-value.ts';

/** A call that came, and when. */
type Came = { readonly read: ReadCall; readonly at: bigint };

/**
 * What is to become of a call. It goes on from the live call whose messages and answer it begins with, and is compared with what
 * goes on from the recorded call that this one stands for; one that begins a conversation is compared with recorded beginnings.
 */
export const matchCall = (state: RerunState, call: LiveCall, at: bigint): Match => {
  const came = { read: state.reader.call(call), at };
  const repeated = state.positions.repeated(came.read);
  const again = repeated === undefined ? undefined : repeat(state, repeated, came);
  if (again !== undefined) return again;
  const found = state.positions.find(came.read);
  if (found?.how === 'continued') return goOn(state, found.position, came, repeated !== undefined);
  const beginning = sameCall(state, came, (each) => each.isBeginning);
  if (beginning !== undefined) return beginning;
  if (found !== undefined) return goOn(state, found.position, came, repeated !== undefined);
  return begin(state, came, repeated !== undefined);
};

/** What a call that went to the provider was answered with. */
export const noteAnswer = (
  state: RerunState,
  number: number,
  answer: Served['answer'],
  answerId: string | null,
): void => {
  const position = state.positionOf.get(number);
  if (position !== undefined) noteAnswerOf(state, position, answer, answerId);
};

/** Another attempt of a call; undefined: it has no more. */
const repeat = (state: RerunState, positions: readonly LivePosition[], { at }: Came): Match | undefined => {
  const [position] = positions;
  if (position === undefined) return undefined;
  const entry = state.entries[position.number] as LiveEntry;
  if (position.how === 'live')
    return { kind: 'live', number: entry.number, of: entry.call?.cycle.label ?? null };
  if (position.how === 'stopped' || position.call === null) return entry.match ?? undefined;
  return serve(state, entry, position, position.call, timesOf(position.call, at));
};

/** A call that goes on from a live one. */
const goOn = (state: RerunState, from: LivePosition, came: Came, isRepeated: boolean): Match => {
  from.isContinued = true;
  state.waiting.delete(from);
  if (from.how === 'live') return goLive(state, came, from.call, from.start);
  const before = from.call;
  const same =
    sameCall(
      state,
      came,
      (each) => before !== null && (each.before === before || each.previous === before),
    ) ??
    // Calls of equal messages and answers are interchangeable until what follows them differs.
    sameCall(state, came, () => true);
  if (same !== undefined) return same;
  const open = isRepeated ? [] : (before?.next ?? []).filter(({ played }) => played === 'no');
  const [standIn] = open;
  if (standIn === undefined) return extra(state, came, before);
  return differ(state, came, standIn, open.length);
};

/** A call that begins a conversation, and that no recorded beginning is the same as. */
const begin = (state: RerunState, came: Came, isRepeated: boolean): Match => {
  const parent = parentOf(state, came.read);
  if (parent?.how === 'live')
    return goLive(state, came, parent.call, { of: parent.call?.cycle.label ?? null, how: 'begins' });
  const candidates = isRepeated ? [] : standInsFor(state, came.read, parent);
  const [standIn] = candidates;
  return standIn === undefined ? extra(state, came, null) : differ(state, came, standIn, candidates.length);
};

/** The earliest recorded call that is the same and of which a condition holds; undefined: none is. */
const sameCall = (state: RerunState, came: Came, holds: (call: RerunCall) => boolean): Match | undefined => {
  const list = state.listOf(came.read);
  state.counts.lookUps++;
  const pending = list === undefined ? undefined : state.recorded.byKey.get(callKey(came.read, list));
  if (pending === undefined) return undefined;
  const [first, second] = pending.unmatched();
  // Of several it is the one that the same tool call led to.
  const parent = second !== undefined && first?.isBeginning === true ? parentOf(state, came.read) : undefined;
  const own = state.recorded.ledToBy.get(`${parent?.call?.cycle.label ?? ''} ${pending.key}`);
  const candidates = [...(own === undefined ? [] : [own]), pending].map((each) => each.unmatched());
  for (const call of inTurn(candidates)) {
    if (!holds(call)) continue;
    state.counts.lookUps++;
    const times = timesOf(call, came.at);
    const draft = openCallDraft(state.comparison, times);
    if (isSameCall(state.comparison, call.read, came.read, draft))
      return play(state, came, call, draft, times);
  }
  return undefined;
};

function* inTurn<T>(lists: readonly Iterable<T>[]): Iterable<T> {
  for (const list of lists) yield* list;
}

const timesOf = ({ cycle }: RerunCall, now: bigint): CallTimes => ({
  recorded: Number(cycle.at / 1_000_000n),
  now: Number(now / 1_000_000n),
});

/** A call that is the same as a recorded one. */
const play = (state: RerunState, came: Came, call: RerunCall, draft: CallDraft, times: CallTimes): Match => {
  if (state.leftOut.has(call)) return goLive(state, came, call);
  const isStandIn = call.played === 'stand-in';
  call.played = 'yes';
  keepDraft(state, call, draft);
  if (isStandIn) releaseStandIn(state, call);
  const entry = addEntry(state, came, call, 'same');
  entry.bindings = [...draft.bindings.values()];
  entry.how = entry.bindings.length > 0 ? 'bound' : call.ordinal < state.latest ? 'other order' : 'same';
  state.latest = Math.max(state.latest, call.ordinal);
  const position = addPosition(state, entry, call, 'served');
  return serve(state, entry, position, call, times, draft);
};

const keepDraft = (state: RerunState, call: RerunCall, draft: CallDraft): void => {
  commitBindings(draft);
  for (const [pair, bindings] of draft.matched) state.comparison.matched.set(pair, bindings);
  for (const [number, pair] of draft.world) {
    const id = pair.a.message['tool_call_id'];
    const tool = typeof id === 'string' ? toolOf(call.read, id, number) : '?';
    const found = worldDifference(call.cycle.label, tool, pair);
    const isKnown = state.world.some(
      (each) => each.tool === found.tool && each.a === found.a && each.b === found.b,
    );
    if (!isKnown) state.world.push(found);
  }
};

const toolOf = ({ messages }: ReadCall, id: string, before: number): string => {
  for (const { message } of messages.slice(0, before).reverse()) {
    const calls = message['tool_calls'];
    const found = isList(calls) ? calls.find((call) => idOf(call) === id) : undefined;
    if (found !== undefined) return calledTool(found).name;
  }
  return '?';
};

const idOf = (call: unknown): unknown =>
  typeof call === 'object' && call !== null && 'id' in call ? call.id : undefined;

/** The next attempt of a recorded call; undefined: all were served. */
const nextAttempt = ({ options }: RerunState, call: RerunCall) => {
  const attempts = servedAttempts(call.cycle, options);
  return attempts[call.nextAttempt];
};

const serve = (
  state: RerunState,
  entry: LiveEntry,
  position: LivePosition,
  call: RerunCall,
  times: CallTimes,
  draft: CallDraft = redrafted(state, entry, call, times),
): Match => {
  const served = servedOf(state, entry, position, call, draft);
  if (served === null) return notKept(state, entry, position, call);
  if (entry.difference !== null)
    return { kind: 'differs', number: entry.number, difference: entry.difference, served };
  const how = entry.how === 'bound' || entry.how === 'other order' ? entry.how : 'same';
  return { kind: 'serve', number: entry.number, how, ...served };
};

/** What another attempt of a call says instead of what was recorded is what its first one did. */
const redrafted = (state: RerunState, entry: LiveEntry, call: RerunCall, times: CallTimes): CallDraft => {
  const draft = openCallDraft(state.comparison, times);
  isSameCall(state.comparison, call.read, entry.read, draft);
  return draft;
};

const servedOf = (
  state: RerunState,
  entry: LiveEntry,
  position: LivePosition,
  call: RerunCall,
  draft: CallDraft,
): Served | null => {
  const found = nextAttempt(state, call);
  if (found === undefined) return null;
  const { attempt, index } = found;
  call.nextAttempt++;
  position.mayRepeat = nextAttempt(state, call) !== undefined;
  if (attempt.bytes !== 'kept' || attempt.outcome === 'unknown') return null;
  const { ledger } = state.comparison;
  const replacements = replacementsOf(ledger, draft.bindings.values(), draft.sameTimes, state.recordedTokens);
  const answer = attempt.answer === null ? null : replaceInValue(attempt.answer, replacements);
  noteAnswerOf(state, position, answer, attempt.answerId);
  const { bindings } = entry;
  return { call: call.cycle.label, attempt: attempt.id, index, bindings, replacements, answer };
};

/** The answer is not there to be served: the conversation goes to the provider, or the rerun was refused. */
const notKept = (state: RerunState, entry: LiveEntry, position: LivePosition, call: RerunCall): Match => {
  entry.how = 'not kept';
  position.how = 'live';
  position.mayRepeat = true;
  for (const next of call.next) leaveOut(state, next);
  return { kind: 'not kept', number: entry.number, of: call.cycle.label };
};

/** Where a conversation leaves the recording, of which the first live call is not numbered yet. */
type Leaving = Omit<LiveStart, 'root'> & { readonly root?: number };

const goLive = (state: RerunState, came: Came, call: RerunCall | null, start?: Leaving): Match => {
  const entry = addEntry(state, came, call, 'live');
  addPosition(state, entry, call, 'live', start);
  return { kind: 'live', number: entry.number, of: call?.cycle.label ?? null };
};

const extra = (state: RerunState, came: Came, after: RerunCall | null): Match => {
  const entry = addEntry(state, came, null, 'extra');
  const match = { kind: 'extra', number: entry.number, after: after?.cycle.label ?? null } as const;
  entry.match = match;
  const how = state.options.onDifference === 'live' ? 'live' : 'stopped';
  addPosition(state, entry, null, how, { of: match.after, how: after === null ? 'begins' : 'behind' });
  return match;
};

/** A call that differs from the recorded one that it stands for. */
const differ = (state: RerunState, came: Came, call: RerunCall, among: number): Match => {
  if (state.leftOut.has(call)) return goLive(state, came, call);
  const { options } = state;
  const entry = addEntry(state, came, call, 'differs');
  call.played = 'stand-in';
  const draft = judge(state, entry, call, among);
  const difference = entry.difference as NonNullable<LiveEntry['difference']>;
  if (options.onDifference === 'serve') {
    keepDraft(state, call, draft);
    return serve(
      state,
      entry,
      addPosition(state, entry, call, 'served'),
      call,
      timesOf(call, came.at),
      draft,
    );
  }
  const match = { kind: 'differs', number: entry.number, difference, served: null } as const;
  entry.match = match;
  const isLive = options.onDifference === 'live';
  if (isLive) leaveOut(state, call);
  addPosition(state, entry, call, isLive ? 'live' : 'stopped');
  return match;
};

const judge = (state: RerunState, entry: LiveEntry, call: RerunCall, among: number): CallDraft => {
  const { difference, draft } = findDifference(
    {
      comparison: state.comparison,
      at: timesOf(call, entry.at),
      of: call.cycle.label,
      among,
      askedIn: (toolCall) => askingCall(call, toolCall),
    },
    call.read,
    entry.read,
  );
  entry.call = call;
  entry.difference = difference;
  return draft;
};

/** The label of the call before a call whose answer has a tool call. */
const askingCall = (call: RerunCall, toolCall: string): string | null => {
  for (let each = call.before; each !== null; each = each.before)
    for (const { answer } of each.cycle.attempts) {
      const calls = answer?.['tool_calls'];
      if (isList(calls) && calls.some((one) => idOf(one) === toolCall)) return each.cycle.label;
    }
  return null;
};

/** A beginning was taken for one that differs, and now the call came that is the same: the other one stands for another. */
const releaseStandIn = (state: RerunState, call: RerunCall): void => {
  if (state.options.onDifference === 'serve') return;
  const entry = state.entries.find((each) => each.call === call && each.how === 'differs');
  if (entry === undefined) return;
  const candidates = call.isBeginning
    ? standInsFor(state, entry.read, parentOf(state, entry.read))
    : (call.before?.next ?? []).filter(({ played }) => played === 'no');
  const [other] = candidates;
  if (other === undefined) {
    entry.how = 'extra';
    entry.call = null;
    entry.difference = null;
    return;
  }
  other.played = 'stand-in';
  judge(state, entry, other, candidates.length);
};

/** Recorded beginnings that a call might stand for, the likeliest first: those that its parent led to, else the closest group. */
const standInsFor = (
  state: RerunState,
  read: ReadCall,
  parent: LivePosition | undefined,
): readonly RerunCall[] => {
  const { recorded, counts } = state;
  const label = parent?.call?.cycle.label;
  const ledTo = label === undefined ? undefined : recorded.ledToBy.get(label);
  for (const group of [ledTo, ...beginningKeys(read).map((key) => recorded.beginnings.get(key))]) {
    counts.lookUps++;
    const unplayed = group?.unplayed() ?? [];
    if (unplayed.length > 0) return unplayed;
  }
  return [];
};

/** So many live calls that wait for tools are looked at, the newest ones. */
const MOST_WAITING = 128;

/** The live call that led to a conversation: the newest with an argument that the user's texts hold. */
const parentOf = ({ waiting }: RerunState, { messages }: ReadCall): LivePosition | undefined => {
  const texts = userTexts(messages.map(({ message }) => message));
  const newest = [...waiting].reverse();
  return newest.find(({ answer }) =>
    argumentTexts(answer).some((argument) => texts.some((text) => isToldIn(argument, text))),
  );
};

const addEntry = (
  { entries }: RerunState,
  { read, at }: Came,
  call: RerunCall | null,
  how: LiveEntry['how'],
): LiveEntry => {
  const number = entries.length;
  const entry: LiveEntry = { number, read, at, call, how, bindings: [], difference: null, match: null };
  entries.push(entry);
  return entry;
};

const addPosition = (
  { positions, positionOf }: RerunState,
  { number, read }: LiveEntry,
  call: RerunCall | null,
  how: LivePosition['how'],
  start: Leaving = { of: call?.cycle.label ?? null, how: call === null ? 'begins' : 'before' },
): LivePosition => {
  const position: LivePosition = {
    number,
    read,
    call,
    how,
    start: { root: number, ...start },
    isContinued: false,
    mayRepeat: true,
    answer: null,
  };
  positions.asked(position);
  positionOf.set(number, position);
  return position;
};

const noteAnswerOf = (
  { positions, waiting, reader }: RerunState,
  position: LivePosition,
  answer: Served['answer'],
  answerId: string | null,
): void => {
  positions.answered(position, answer === null ? null : reader.message(answer), answerId);
  const calls = answer?.['tool_calls'];
  if (!isList(calls) || calls.length === 0) return;
  position.answer = answer;
  waiting.add(position);
  const [oldest] = waiting;
  if (waiting.size > MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
};
