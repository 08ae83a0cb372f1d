import type { AnswerOf, Endpoints } from '@stemma/api';
import { entryDocument } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const ctreesEvents: ContractAnswer<'ctreesEvents'> = async (
  { home },
  { session, at, offset = 0, limit = 100 },
) => {
  const position = await positionAt(home, { history: session, at });
  const page = await home.queries.stages.stream(position, { offset, limit });
  const events = page.entries.map(entryDocument) as AnswerOf<Endpoints['ctreesEvents']>['events'];
  return { events, offset: page.offset, limit: page.limit, total: page.total };
};
