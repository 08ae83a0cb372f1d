import { requestChangeAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const cache: ContractAnswer<'cache'> = async ({ home }, { history, from = 0, limit = MAX_STEPS }) => {
  const { worst, steps, ...rest } = await home.queries.questions.cache(await home.find(history));
  const end = from + Math.max(1, Math.min(limit, MAX_STEPS));
  const next = end < steps.length ? end : null;
  return {
    ...rest,
    worst: [...worst],
    from,
    next,
    steps: steps
      .slice(from, end)
      .map(({ tools, ...step }) => ({ ...step, tools: tools.map(requestChangeAnswer) })),
  };
};

/** Steps of a cache report in one answer. */
const MAX_STEPS = 1_000;
