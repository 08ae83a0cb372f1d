import type { WideJson } from '@stemma/canonical';
import { branchRefOf } from '@stemma/history-store';
import { leadingSystem, toOpenAIMessages } from '@stemma/importers';
import { comparableMessage } from '@stemma/model-apis';

import { matchByHash, matchByMessages, type MatchCandidate } from './match-call.ts';
import type { CallTarget } from './record-call.ts';

type Match = NonNullable<ReturnType<typeof matchByHash> | ReturnType<typeof matchByMessages>>;

/** An earlier call, and how another one goes on from it. */
export type BranchMatch = { readonly candidate: MatchCandidate; readonly match: Match };

/**
 * The first of the candidates that the messages of a call go on from, by hashes, or else by the messages that its branch shows.
 *
 * @returns undefined if it goes on from none
 */
export const matchBranch = async (
  home: Pick<CallTarget, 'view' | 'position'>,
  candidates: readonly MatchCandidate[],
  messages: readonly WideJson[],
  leading: number,
): Promise<BranchMatch | undefined> => {
  for (const candidate of candidates) {
    const match =
      matchByHash(candidate, messages.length) ?? (await matchShown(home, candidate, messages, leading));
    if (match !== undefined) return { candidate, match };
  }
  return undefined;
};

const matchShown = async (
  home: Pick<CallTarget, 'view' | 'position'>,
  candidate: MatchCandidate,
  messages: readonly WideJson[],
  leading: number,
): Promise<Match | undefined> => {
  const { history, branchId } = candidate;
  const { tree, payloads, thread } = await home.view(await home.position(branchRefOf(history, branchId)));
  const shown = toOpenAIMessages(tree, payloads, thread);
  return matchByMessages(candidate, {
    call: messages.map(comparableMessage),
    branch: shown.map(comparableMessage),
    leading: { call: leading, branch: leadingSystem(shown) },
    roleOf: (index) => shown[index]?.['role'] as string,
  });
};
