import type { WideJson } from '@stemma/canonical';
import { branchRefOf } from '@stemma/history-store';
import { comparableMessage, leadingSystem, toOpenAIMessages } from '@stemma/importers';

import { matchByHash, matchByMessages, type MatchCandidate } from './match-call.ts';
import type { CallTarget } from './record-call.ts';

type Match = ReturnType<typeof matchByHash> | ReturnType<typeof matchByMessages>;

/** How a call goes on from an earlier one: by its hashes, or else by the messages that the branch shows. @returns undefined if it does not */
export const matchBranch = async (
  home: Pick<CallTarget, 'view' | 'position'>,
  candidate: MatchCandidate,
  messages: readonly WideJson[],
  leading: number,
): Promise<Match> => {
  const match = matchByHash(candidate, messages.length);
  if (match !== undefined) return match;
  const { history, branchId } = candidate;
  const { tree, payloads, thread } = await home.view(await home.position(branchRefOf(history, branchId)));
  const shown = toOpenAIMessages(tree, payloads, thread);
  return matchByMessages(candidate, {
    call: messages.map(comparableMessage),
    branch: shown.map(comparableMessage),
    leading: { call: leading, branch: leadingSystem(shown) },
    isAsked: (index) => shown[index]?.['role'] === 'user',
  });
};
