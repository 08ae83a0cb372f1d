import { attemptAnswer, providerCallAnswer, type AttemptAnswer, type ProviderCallAnswer } from '@stemma/api';
import type { AnyCall } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';

export const attempts: ContractAnswer<'attempts'> = async (
  { home },
  { history: name, from = 0, limit = 100 },
) => {
  const branchRef = await home.find(name);
  const page = { from, limit: Math.max(1, Math.min(limit, MAX_PAGE)) };
  const { calls, next } = await home.calls.listAll(branchRef, page);
  const { history, branch, branchId } = branchRef;
  return { history, branch, branchId, attempts: calls.map(answerOf), next };
};

const answerOf = (call: AnyCall): AttemptAnswer | ProviderCallAnswer =>
  'method' in call ? providerCallAnswer(call) : attemptAnswer(call);

const MAX_PAGE = 1_000;
