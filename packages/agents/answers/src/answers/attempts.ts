import { attemptAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const attempts: ContractAnswer<'attempts'> = async (
  { home },
  { history: name, from = 0, limit = 100 },
) => {
  const branchRef = await home.find(name);
  const page = { from, limit: Math.max(1, Math.min(limit, MAX_PAGE)) };
  const { attempts, next } = await home.calls.list(branchRef, page);
  const { history, branch, branchId } = branchRef;
  return { history, branch, branchId, attempts: attempts.map(attemptAnswer), next };
};

const MAX_PAGE = 1_000;
