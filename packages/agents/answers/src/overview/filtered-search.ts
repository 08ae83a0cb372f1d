import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { parseFilters, type SearchQuery } from '@stemma/search';
import { letsThrough } from './matching.ts';

/**
 * A search for texts with filters in it: `refund tool:lookup since:7d`. Times are those of the texts; other filters are of the
 * histories in which they stand.
 *
 * @throws E_SEARCH_INVALID, also if there is no text beside the filters
 */
export const searchWithFilters = async (
  home: Pick<Home, 'read' | 'queries'>,
  query: string,
): Promise<Pick<SearchQuery, 'text' | 'among' | 'since' | 'until'>> => {
  const { filters, text } = parseFilters(query, Date.now());
  if (filters.length === 0) return { text: query };
  if (text === '')
    throw fail(
      'E_SEARCH_INVALID',
      'the query has only filters: `stemma histories` lists what they let through',
    );
  const times = filters.flatMap((filter) => ('at' in filter ? [filter] : []));
  const [since, until] = (['since', 'until'] as const).map(
    (field) => times.findLast((one) => one.field === field)?.at,
  );
  const others = filters.filter((filter) => !('at' in filter));
  return { text, since, until, ...(others.length === 0 ? {} : { among: await through(home, others) }) };
};

/** The ids of the histories that filters let through. */
const through = async (
  home: Pick<Home, 'read' | 'queries'>,
  filters: Parameters<typeof letsThrough>[0],
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const summary of await home.read.histories()) {
    const figures = await home.queries.overview.figures(summary.history, summary.frames);
    if (letsThrough(filters, { summary, figures })) found.push(summary.history);
  }
  return found;
};
