import type { WideJson } from '@stemma/canonical';
import type { CallAddress, CallMatch, CallOrigin } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import { leadingSystem, systemBetween } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { countCallsAt } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

import { besideOf, scopeOf } from './call-scopes.ts';
import { findContinued } from './find-continued.ts';
import { findParent } from './find-parent.ts';
import { matchBranch, type BranchMatch } from './match-branch.ts';
import { findEarlierCalls, findInOtherSession, type MatchCandidate, type WantedCall } from './match-call.ts';
import type { PromptHashes } from './prompt-hash.ts';
import type { CallTarget } from './record-call.ts';
import type { CallScope } from './record-request-types.ts';

/** Where a call belongs. */
export type CallPlacement = {
  readonly match: CallMatch;
  /** The earlier call that it goes on from, or another attempt of which it is; undefined: it begins a conversation. */
  readonly from: Pick<MatchCandidate, 'history' | 'branchId' | 'at'> | undefined;
  /** The newest frame of the branch that it goes on with, when that was found. */
  readonly tip: number | undefined;
  /** The call that led to it, if it begins a conversation. */
  readonly origin: CallOrigin | null;
  /** A call of the conversation that it may continue, if it begins one. */
  readonly mayContinue: CallAddress | undefined;
  /** The attempt whose answer it goes on from, if its position has several. */
  readonly follows: string | undefined;
};

/** A call whose place is looked for. */
export type WantedPlacement = {
  readonly messages: readonly WideJson[];
  readonly hashes: PromptHashes;
  readonly scope: string;
  /** A hash of the session that its client named, which decides before its messages do; undefined: it named none. */
  readonly session: string | undefined;
  readonly within: CallScope | undefined;
};

/** The earlier calls that a call may go on from, the likeliest first. */
export const candidatesFor = (rows: RowReader, wanted: WantedPlacement): readonly MatchCandidate[] =>
  findEarlierCalls(rows, wantedCall(wanted));

const wantedCall = ({ messages, hashes, session, within }: WantedPlacement): WantedCall => {
  const on = within !== undefined && 'branch' in within ? within.branch : undefined;
  // Who names a branch says more than a session does.
  const named = on === undefined ? session : undefined;
  const [leading, between] = [leadingSystem(messages), systemBetween(messages)];
  return { hashes, leading, between, session: named, except: besideOf(within), on };
};

/** Where a call belongs (calls §3), as far as the candidates say. */
export const findPlacement = async (
  home: Pick<CallTarget, 'view' | 'position'>,
  projection: Projection,
  wanted: WantedPlacement,
  candidates: readonly MatchCandidate[],
): Promise<CallPlacement> => {
  const { messages, within } = wanted;
  const found = await matchBranch(home, candidates, messages, leadingSystem(messages));
  if (within !== undefined && 'branch' in within) return placeOn(within.branch, found);
  if (found === undefined) return placeOfBeginning(projection, wanted);
  const { candidate, match } = found;
  return {
    ...{ match, from: candidate, tip: candidate.tip, origin: null, mayContinue: undefined },
    follows: await followedBy(projection, candidate),
  };
};

/** Of several attempts with one position, the one whose answer a call has. */
const followedBy = async (
  projection: Projection,
  { history, at, answer, common, attemptId }: MatchCandidate,
): Promise<string | undefined> => {
  if (answer === null || common === 0) return undefined;
  const attempts = await projection.read((rows) => countCallsAt(rows, history, at));
  return attempts > 1 ? attemptId : undefined;
};

/** The place of a call that shares no message with an earlier one. */
const placeOfBeginning = async (projection: Projection, wanted: WantedPlacement): Promise<CallPlacement> => {
  const { messages, scope } = wanted;
  const begun = { match: 'started', from: undefined, tip: undefined, follows: undefined } as const;
  const origin = await findParent(projection, scope, messages);
  if (origin?.kind === 'called' && origin.why === 'argument')
    return { ...begun, origin, mayContinue: undefined };
  const other = await projection.read((rows) => findInOtherSession(rows, wantedCall(wanted)));
  if (other !== undefined) {
    const { history, branchId, attemptId } = other;
    return { ...begun, origin: null, mayContinue: { history, branchId, attemptId } };
  }
  const continued =
    scope === scopeOf(undefined) ? undefined : await findContinued(projection, messages, wantedCall(wanted));
  if (continued === undefined) return { ...begun, origin, mayContinue: undefined };
  const { call, summary } = continued;
  // Who waits for a tool is more likely to have asked for it than a helper to begin anew.
  const isOfAnother =
    origin !== null && (origin.history !== call.history || origin.branchId !== call.branchId);
  if (isOfAnother && summary === null) return { ...begun, origin, mayContinue: undefined };
  if (summary === null || !summary.isNewest) return { ...begun, origin: null, mayContinue: call };
  const { tip } = summary;
  return { ...begun, match: 'rewritten', from: summary, tip, origin: null, mayContinue: undefined };
};

/**
 * The place of a call on a branch that its client named. It goes on there, whatever it says; but the same run again is other attempts
 * of the calls that the branch has, up to the first difference, and starts a branch where that is.
 */
const placeOn = (on: BranchRef, found: BranchMatch | undefined): CallPlacement => {
  const isAgain =
    found !== undefined &&
    !found.candidate.isNewest &&
    (found.match === 'repeated' || (found.match === 'forked' && found.candidate.answer !== null));
  const place = { tip: undefined, origin: null, mayContinue: undefined, follows: undefined };
  if (isAgain) return { ...place, match: found.match, from: found.candidate };
  const { history, branchId } = on;
  const at = { branchId, seq: found?.candidate.tip ?? 0 };
  return { ...place, match: 'named', from: { history, branchId, at } };
};
