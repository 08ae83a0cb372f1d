import { compareBytes } from '@stemma/canonical';
import type { BranchPosition } from '@stemma/events';
import {
  findSnapshot,
  readAncestorPath,
  readPositionMeta,
  readTipSeq,
  type BranchRef,
} from '@stemma/history-store';
import { isSystemRole } from '@stemma/importers';
import {
  positionFollowing,
  callsAnsweredWith,
  callsThatBrought,
  callsWithPrompt,
  eachHash,
  findBranch,
  newestCalledPosition,
  NO_SESSION,
  sessionOfBranch,
  type CallInHistory,
} from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { PromptHashes } from './prompt-hash.ts';

/** An earlier call that another may go on from. */
export type MatchCandidate = {
  readonly history: string;
  /** The branch of the earlier call, or the one that goes on in its place after a rollback. */
  readonly branchId: number;
  /** The newest frame of the branch when it was found. */
  readonly tip: number;
  /** The position of the earlier call. */
  readonly at: BranchPosition;
  /** So many messages of the call are those of an earlier one; 0: only single messages are. */
  readonly common: number;
  /** True if no call of its branch has a newer position. */
  readonly isNewest: boolean;
  /** True if a rollback went back before the earlier call: the branch does not have it. */
  readonly isUndone: boolean;
  /** The index of the message that the earlier call was answered with, as was recorded; null: the list has it not. */
  readonly answer: number | null;
  /** True if it is recorded what the earlier call was answered with. */
  readonly isAnswered: boolean;
  readonly attemptId: string;
};

/** Messages of a call that are looked for one by one. */
const MOST_LOOKED_FOR = 32;

/** A call whose list of messages has its hashes, and among which calls an earlier one is looked for. */
export type WantedCall = {
  readonly hashes: Pick<PromptHashes, 'lists' | 'messages'>;
  /** How many system messages it begins with: these alone identify no conversation. */
  readonly leading: number;
  /** The messages behind these that are the system's, which say nothing either. */
  readonly between: ReadonlySet<number>;
  /** The session that the client named; undefined: it named none. */
  readonly session: string | undefined;
  /** A history whose calls do not count. */
  readonly except?: string | undefined;
  /** The branch that it goes on with: only the calls on the way to its tip count. */
  readonly on?: BranchRef | undefined;
};

/** What is looked up for every candidate alike. */
type Look = {
  readonly rows: RowReader;
  readonly wanted: WantedCall;
  /** The session whose calls are looked at; undefined: all. */
  readonly session: string | undefined;
  readonly counts: (call: CallInHistory) => boolean;
};

/**
 * The earlier calls that a call may go on from, the likeliest first:
 *
 * 1. the one that was answered with a message of the list, and is the newest of its branch: it goes on there, whatever else it
 *    keeps;
 * 2. the one with the longest list of messages that it begins with, first of all one whose answer comes next;
 * 3. one that brought several of its messages.
 *
 * Of a call whose client names its session, those of the session come before those whose clients name none, and those of others are
 * none. It costs as many look-ups as the call has messages, however many calls are recorded.
 */
export const findEarlierCalls = (rows: RowReader, wanted: WantedCall): readonly MatchCandidate[] => {
  const { session } = wanted;
  const counts = countsFor(rows, wanted);
  const found = earlierCalls({ rows, wanted, session, counts });
  const [first] = found;
  if (session === undefined || (first !== undefined && isCertain(first, wanted))) return found;
  const isFree = (call: CallInHistory): boolean => {
    const named = counts(call) ? sessionOfBranch(rows, call.history, call.branchId) : undefined;
    return named === null || named === session;
  };
  return [...found, ...earlierCalls({ rows, wanted, session: NO_SESSION, counts: isFree })];
};

/** True if no other call can be likelier. */
const isCertain = ({ isNewest, common }: MatchCandidate, { hashes }: WantedCall): boolean =>
  common > 0 && (isNewest || common === hashes.messages.length);

const earlierCalls = (look: Look): readonly MatchCandidate[] => {
  const prefix = longestPrefix(look);
  if (prefix !== undefined && isCertain(prefix, look.wanted)) return [prefix];
  const answered = newestAnswered(look, prefix);
  const found = [answered, prefix].filter((each) => each !== undefined);
  if (found.length > 0) return found;
  const brought = mostBrought(look);
  return brought === undefined ? [] : [brought];
};

const countsFor = (rows: RowReader, { except, on }: WantedCall): Look['counts'] => {
  if (on === undefined) return ({ history, reassignedTo }) => history !== except && reassignedTo === null;
  const path = readAncestorPath(rows, on.history, on.branchId, readTipSeq(rows, on.history, on.branchId));
  const limits = new Map(path.map(({ branchId, limit }) => [branchId, limit]));
  return ({ history, branchId, position, reassignedTo }) =>
    history === on.history && reassignedTo === null && position <= (limits.get(branchId) ?? -1);
};

const longestPrefix = (look: Look): MatchCandidate | undefined => {
  const { hashes, leading } = look.wanted;
  const { lists, messages } = hashes;
  for (let common = messages.length; common > Math.min(leading, messages.length - 1); common--) {
    const found = callsWithPrompt(look.rows, lists[common] as Uint8Array, look.session).filter(look.counts);
    // Of a call that a rollback undid, the branch in its place has an older one that this begins with, too.
    const candidates = found
      .map((call) => candidateOf(look, call, common, hasAnswer(call, messages[common]) ? common : null))
      .filter(({ isUndone }) => !isUndone);
    const best =
      // Of attempts that were answered alike, each is of another conversation.
      candidates.find(
        ({ answer, history, attemptId }) =>
          answer !== null && positionFollowing(look.rows, history, attemptId) === undefined,
      ) ??
      candidates.find(({ answer }) => answer !== null) ??
      candidates.find(({ isNewest }) => isNewest) ??
      candidates[0];
    if (best !== undefined) return best;
  }
  return undefined;
};

/**
 * The newest call of another session whose messages and recorded answer a call begins with: its session may go on in this one.
 *
 * @returns undefined also of a call whose client names no session
 */
export const findInOtherSession = (rows: RowReader, wanted: WantedCall): CallInHistory | undefined => {
  const { hashes, leading, session } = wanted;
  const { lists, messages } = hashes;
  if (session === undefined) return undefined;
  const counts = countsFor(rows, wanted);
  for (let common = messages.length - 1; common > leading; common--) {
    const found = callsWithPrompt(rows, lists[common] as Uint8Array).find(
      (call) => counts(call) && hasAnswer(call, messages[common]),
    );
    if (found !== undefined) return found;
  }
  return undefined;
};

const hasAnswer = ({ answers }: CallInHistory, message: Uint8Array | undefined): boolean =>
  answers !== null &&
  message !== undefined &&
  eachHash(answers).some((hash) => compareBytes(hash, message) === 0);

/** Of the last messages behind a prefix, the last one that a newest call of a branch was answered with. */
const newestAnswered = (look: Look, prefix: MatchCandidate | undefined): MatchCandidate | undefined => {
  const { hashes, leading } = look.wanted;
  const { messages } = hashes;
  // The answer of the prefix itself says nothing of what came after it.
  const first = prefix === undefined ? leading : prefix.common + (prefix.answer === null ? 0 : 1);
  const least = Math.max(first, messages.length - MOST_LOOKED_FOR);
  for (let index = messages.length - 1; index >= least; index--)
    for (const call of callsAnsweredWith(look.rows, messages[index] as Uint8Array, look.session)) {
      if (!look.counts(call) || (prefix !== undefined && prefix.history !== call.history)) continue;
      const candidate = candidateOf(look, call, 0, index);
      if (candidate.isNewest && !candidate.isUndone) return candidate;
    }
  return undefined;
};

const mostBrought = (look: Look): MatchCandidate | undefined => {
  const { hashes, leading, between } = look.wanted;
  const scores = new Map<string, { call: CallInHistory; score: number }>();
  const said = hashes.messages.filter((_, i) => i >= leading && !between.has(i));
  for (const message of said.slice(-MOST_LOOKED_FOR))
    for (const call of callsThatBrought(look.rows, message, look.session)) {
      if (!look.counts(call)) continue;
      const known = scores.get(call.history);
      const newer = known === undefined || call.location.seq > known.call.location.seq ? call : known.call;
      scores.set(call.history, { call: newer, score: (known?.score ?? 0) + 1 });
    }
  let best: { call: CallInHistory; score: number } | undefined;
  for (const each of scores.values()) if (best === undefined || each.score > best.score) best = each;
  return best === undefined ? undefined : candidateOf(look, best.call, 0, null);
};

export const candidateOf = (
  { rows, wanted }: { readonly rows: RowReader; readonly wanted?: Pick<WantedCall, 'on'> },
  { history, branchId: calledIn, position, cycle, answers, attemptId }: CallInHistory,
  common: number,
  answer: number | null,
): MatchCandidate => {
  const branchId = wanted?.on?.branchId ?? liveBranch(rows, history, calledIn);
  const tip = readTipSeq(rows, history, branchId);
  const isUndone =
    branchId !== calledIn &&
    !readAncestorPath(rows, history, branchId, tip).some(
      (segment) => segment.branchId === calledIn && position <= segment.limit,
    );
  const newest = newestCalledPosition(rows, history, branchId);
  const snapshot = findSnapshot(
    rows,
    history,
    branchId,
    tip,
    readPositionMeta(rows, history, branchId, tip).meta.cycle,
  );
  const isNewest =
    (calledIn === branchId && newest === position) ||
    (snapshot?.seq === position && snapshot.cycle === cycle);
  const at = { branchId: calledIn, seq: position };
  const isAnswered = answers !== null;
  return { history, branchId, tip, at, common, isNewest, isUndone, answer, isAnswered, attemptId };
};

/** The branch itself, or the one that goes on in its place since rollbacks abandoned it. */
const liveBranch = (rows: RowReader, history: string, branchId: number): number => {
  const by = findBranch(rows, history, branchId)?.abandonedBy ?? null;
  return by === null ? branchId : liveBranch(rows, history, by);
};

/** What a call is to a candidate, as far as no messages have to be read for it. */
export const matchByHash = (
  { common, isNewest }: Pick<Matched, 'common' | 'isNewest'>,
  messages: number,
): 'repeated' | 'appended' | undefined => {
  if (common === messages) return 'repeated';
  return common > 0 && isNewest ? 'appended' : undefined;
};

/** What of a candidate says how a call goes on from it. */
type Matched = Pick<MatchCandidate, 'common' | 'isNewest' | 'isUndone' | 'answer' | 'isAnswered'>;

/** What two lists of comparable messages say about each other. */
type Lists = {
  /** Of the call, and of the newest state of the branch. */
  readonly call: readonly string[];
  readonly branch: readonly string[];
  /** Who says a message of the branch. */
  readonly roleOf: (index: number) => string;
  /** How many system messages each begins with. */
  readonly leading: { readonly call: number; readonly branch: number };
};

/**
 * What a call does to the branch of a candidate by the messages of both; undefined: it is another conversation.
 *
 * - A call that has the answer of the newest call, or its last exchange behind the first difference, rewrites the branch.
 * - One that begins with an older call, and has neither, goes on from there.
 * - One that begins with all that the branch shows, under another system message, rewrites it.
 */
export const matchByMessages = (
  { common, isUndone, answer, isAnswered }: Omit<Matched, 'isNewest'>,
  { call, branch, leading, roleOf }: Lists,
): 'appended' | 'rewritten' | 'forked' | undefined => {
  const same = samePrefix(call, branch);
  if ((common > 0 || isUndone) && same === branch.length) return 'appended';
  if (common > 0) {
    if (same === call.length) return 'rewritten';
    // Two runs of one task share what they are told, and older answers; only who goes on with this branch has its newest.
    const exchange = new Set(lastExchange(branch, roleOf, same));
    // The answer that a fork goes on from says nothing of what came after it: the branch may have kept it in a compaction.
    const isOfBranch = (message: string, i: number): boolean => i !== answer && exchange.has(message);
    return call.some((message, i) => i >= same && isOfBranch(message, i)) ? 'rewritten' : 'forked';
  }
  // What the system says between the turns is said in other conversations, too.
  const shown = branch.flatMap((message, i) =>
    i < leading.branch || isSystemRole(roleOf(i)) ? [] : [{ message, role: roleOf(i) }],
  );
  const said = call.slice(leading.call);
  const known = new Set(shown.map(({ message }) => message));
  const sameSystem =
    leading.call === leading.branch && call.slice(0, leading.call).every((each, i) => each === branch[i]);
  const isAnswerTelling = answer !== null && isTelling(call[answer], sameSystem);
  // An answer that tells nothing, such as "OK.", is elsewhere on the branch, too.
  const isShared = (message: string, i: number): boolean =>
    known.has(message) && (isAnswerTelling || i + leading.call !== answer);
  const shared = said.filter(isShared).length;
  if (answer !== null && (shared > 0 || isAnswerTelling)) return 'rewritten';
  // Who was answered does not ask the same without the answer; another agent may be shown the same task.
  const isAskedOnly = shown.every(({ message, role }) => role === 'user' || !said.includes(message));
  if (shared === 0 || (isAnswered && isAskedOnly)) return undefined;
  const goesOn = shared === known.size && call.length > branch.length;
  return sameSystem || goesOn || (shared * 2 > known.size && shared > 1) ? 'rewritten' : undefined;
};

/** Answers that are shorter, as JSON, are given to many questions: by any agent, and by one with the same system message. */
const [TELLING, TELLING_OF_ONE] = [80, 60];
const isTelling = (message: string | undefined, sameSystem: boolean): boolean =>
  (message?.length ?? 0) >= (sameSystem ? TELLING_OF_ONE : TELLING);

/** The newest answer that a branch shows, and what tools said to it. */
const lastExchange = (
  branch: readonly string[],
  roleOf: Lists['roleOf'],
  from: number,
): readonly string[] => {
  const last = branch.findLastIndex((_, i) => roleOf(i) === 'assistant');
  const since = Math.max(last, from);
  return branch.slice(since).filter((_, i) => {
    const role = roleOf(since + i);
    return role !== 'user' && !isSystemRole(role);
  });
};

const samePrefix = (a: readonly string[], b: readonly string[]): number => {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return same;
};
