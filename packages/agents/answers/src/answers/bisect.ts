import { positionAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const bisect: ContractAnswer<'bisect'> = async ({ home }, { history, holds, ...question }) => {
  const asked = { ...question, not: holds === 'none' };
  const answer = await home.queries.questions.bisect(await home.find(history), asked);
  return {
    ...answer,
    first: positionAnswer(answer.first),
    before: positionAnswer(answer.before),
    matched: [...answer.matched],
    matchedBefore: [...answer.matchedBefore],
    changes: answer.changes.map(({ fields, causes, ...change }) => ({
      ...change,
      fields: [...fields],
      causes: [...causes],
    })),
  };
};
