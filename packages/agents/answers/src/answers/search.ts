import type { ContractAnswer } from '../answer.ts';
import { searchWithFilters } from '../overview/filtered-search.ts';

/** The most of a page, and how far it reaches. */
const MOST = 100;
const FARTHEST = 10_000;

export const search: ContractAnswer<'search'> = async (
  { home },
  { q, history, kind, role, since, until, limit = 20, skip = 0 },
) => {
  const asked = await searchWithFilters(home, q);
  const answer = await home.queries.search.find({
    ...asked,
    within: history === undefined ? undefined : { name: history, branchRef: await home.find(history) },
    ...{ kind, role, since: since ?? asked.since, until: until ?? asked.until },
    limit: Math.max(1, Math.min(limit, MOST)),
    skip: Math.min(skip, FARTHEST),
  });
  return {
    ...answer,
    hits: answer.hits.map(({ excerpt: { text, marks }, ...hit }) => ({
      ...hit,
      excerpt: { text, marks: marks.map(([from, to]) => [from, to]) },
    })),
  };
};
