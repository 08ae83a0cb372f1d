import type { AnswerOf, Endpoints } from '@stemma/api';
import { parseWideJson } from '@stemma/canonical';
import type { ContractAnswer } from '../answer.ts';

export const calls: ContractAnswer<'calls'> = async ({ home }, { history: name, after, limit = 100 }) => {
  const branchRef = await home.find(name);
  const most = Math.max(1, Math.min(limit, MAX_CALLS));
  const calls: AnswerOf<Endpoints['calls']>['calls'] = [];
  let size = 0;
  let next: number | null = null;
  for await (const { following, ...call } of home.queries.questions.calls(
    branchRef,
    after === undefined ? {} : { after },
  )) {
    const last = calls.at(-1);
    if (last !== undefined && (calls.length === most || size > MAX_CALLS_TEXT)) {
      next = last.cycle;
      break;
    }
    for (const text of following) size += text.length;
    calls.push({ ...call, following: following.map((text) => parseWideJson(text)) });
  }
  const { history, branch, branchId } = branchRef;
  return { history, branch, branchId, calls, next };
};

const MAX_CALLS_TEXT = 8 * 1024 * 1024;

/** Calls of a page: so many at the most, and no more once their messages have so many characters. */
const MAX_CALLS = 1_000;
