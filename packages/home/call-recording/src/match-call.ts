import type { BranchPosition } from '@stemma/events';
import { findSnapshot, readAncestorPath, readPositionMeta, readTipSeq } from '@stemma/history-store';
import {
  callsThatBrought,
  callsWithPrompt,
  findBranch,
  newestCallRow,
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
  /** True if the earlier call is the newest of its branch. */
  readonly isNewest: boolean;
  /** True if a rollback went back before the earlier call: the branch does not have it. */
  readonly isUndone: boolean;
};

/** Messages of a call that are looked for one by one. */
const MOST_LOOKED_FOR = 32;

/**
 * The earlier call that a call most likely goes on from: the one with the longest list of messages that it begins with, or
 * else one that brought several of its messages. It costs as many look-ups as the call has messages, however many calls
 * are recorded.
 *
 * @param leading how many system messages it begins with: these alone identify no conversation
 * @param except a history whose calls do not count
 */
export const findEarlierCall = (
  rows: RowReader,
  { lists, messages }: PromptHashes,
  leading: number,
  except?: string,
): MatchCandidate | undefined => {
  for (let common = messages.length; common > Math.min(leading, messages.length - 1); common--) {
    const found = callsWithPrompt(rows, lists[common] as Uint8Array).filter(
      ({ history }) => history !== except,
    );
    // Of a call that a rollback undid, the branch in its place has an older one that this begins with, too.
    const candidates = found
      .map((call) => candidateOf(rows, call, common))
      .filter(({ isUndone }) => !isUndone);
    const best = candidates.find(({ isNewest }) => isNewest) ?? candidates[0];
    if (best !== undefined) return best;
  }
  const scores = new Map<string, { call: CallInHistory; score: number }>();
  for (const message of messages.slice(leading).slice(-MOST_LOOKED_FOR))
    for (const call of callsThatBrought(rows, message)) {
      if (call.history === except) continue;
      const known = scores.get(call.history);
      const newer = known === undefined || call.location.seq > known.call.location.seq ? call : known.call;
      scores.set(call.history, { call: newer, score: (known?.score ?? 0) + 1 });
    }
  let best: { call: CallInHistory; score: number } | undefined;
  for (const each of scores.values()) if (best === undefined || each.score > best.score) best = each;
  return best === undefined ? undefined : candidateOf(rows, best.call, 0);
};

const candidateOf = (
  rows: RowReader,
  { history, branchId: calledIn, position, cycle }: CallInHistory,
  common: number,
): MatchCandidate => {
  const branchId = liveBranch(rows, history, calledIn);
  const tip = readTipSeq(rows, history, branchId);
  const isUndone =
    branchId !== calledIn &&
    !readAncestorPath(rows, history, branchId, tip).some(
      (segment) => segment.branchId === calledIn && position <= segment.limit,
    );
  const newest = newestCallRow(rows, history, branchId);
  const snapshot = findSnapshot(
    rows,
    history,
    branchId,
    tip,
    readPositionMeta(rows, history, branchId, tip).meta.cycle,
  );
  const isNewest =
    (newest?.branchId === branchId && newest.position === position) ||
    (snapshot?.seq === position && snapshot.cycle === cycle);
  return { history, branchId, tip, at: { branchId: calledIn, seq: position }, common, isNewest, isUndone };
};

/** The branch itself, or the one that goes on in its place since rollbacks abandoned it. */
const liveBranch = (rows: RowReader, history: string, branchId: number): number => {
  const by = findBranch(rows, history, branchId)?.abandonedBy ?? null;
  return by === null ? branchId : liveBranch(rows, history, by);
};

/** What a call is to a candidate, as far as no messages have to be read for it. */
export const matchByHash = (
  { common, isNewest }: Pick<MatchCandidate, 'common' | 'isNewest'>,
  messages: number,
): 'repeated' | 'appended' | undefined => {
  if (common === messages) return 'repeated';
  return common > 0 && isNewest ? 'appended' : undefined;
};

/** What two lists of comparable messages say about each other. */
type Lists = {
  /** Of the call, and of the newest state of the branch. */
  readonly call: readonly string[];
  readonly branch: readonly string[];
  /** True for a message of the branch that a user says, and no model or tool. */
  readonly isAsked: (index: number) => boolean;
  /** How many system messages each begins with. */
  readonly leading: { readonly call: number; readonly branch: number };
};

/**
 * What a call does to the branch of a candidate by the messages of both; undefined: it is another conversation. A call that
 * shares messages of others than the user behind the first difference rewrites the branch; one that shares none goes on from
 * an older call.
 */
export const matchByMessages = (
  { common, isUndone }: Pick<MatchCandidate, 'common' | 'isUndone'>,
  { call, branch, leading, isAsked }: Lists,
): 'appended' | 'rewritten' | 'forked' | undefined => {
  let same = 0;
  while (same < call.length && same < branch.length && call[same] === branch[same]) same++;
  if ((common > 0 || isUndone) && same === branch.length) return 'appended';
  if (common > 0) {
    if (same === call.length) return 'rewritten';
    // Two runs of one task may be told the same next; only who goes on with this branch has its answers and results too.
    const later = new Set(branch.slice(same).filter((_, i) => !isAsked(same + i)));
    return call.slice(same).some((message) => later.has(message)) ? 'rewritten' : 'forked';
  }
  const known = new Set(branch.slice(leading.branch));
  const shared = call.slice(leading.call).filter((message) => known.has(message)).length;
  const sameSystem =
    leading.call === leading.branch && call.slice(0, leading.call).every((each, i) => each === branch[i]);
  if (shared === 0) return undefined;
  // Another agent may be shown the same task; only one that goes on has the rest of the conversation too.
  const goesOn = shared === known.size && call.length > branch.length;
  return sameSystem || goesOn || (shared * 2 > known.size && shared > 1) ? 'rewritten' : undefined;
};
