import type { OverviewRow } from '@stemma/api';
import { parseFilters, wordsOfSearch } from '@stemma/search';
import type { HistorySummary } from '@stemma/queries';
import type { AnswerSources, ContractAnswer } from '../answer.ts';
import { facetsOf } from '../overview/facets.ts';
import {
  endedWith,
  isNamed,
  isAsked,
  letsThrough,
  numberOf,
  type SeenHistory,
} from '../overview/matching.ts';
import { firstOfGroups, inGroups, orderBy, partsFrom, type GroupedHistory } from '../overview/ordering.ts';

const MOST_ROWS = 500;
const MOST_FAILURES = 20;
const MOST_CALLS = 400;
const BY_UPDATED = '-updated';

/** Reads the figures of the rows of a page only, where neither a filter nor an order needs those of all. */
export const overview: ContractAnswer<'overview'> = async (
  { home, previews },
  { q = '', sort = BY_UPDATED, group = 'none', of, facets = 'false', skip = 0, limit = 100 },
) => {
  const { filters, text } = parseFilters(q, Date.now());
  const words = wordsOfSearch(text);
  const found = await home.read.histories();
  const named = found.filter((summary) => isNamed(words, summary));
  const listed = only(await withTexts(home, words, named), of);
  const needsAll =
    filters.some(({ field }) => field !== 'since' && field !== 'until') ||
    !/^-?(?:updated|started|name)$/u.test(sort) ||
    facets === 'true';
  const end = skip + Math.max(1, Math.min(limit, MOST_ROWS));
  const figured = needsAll ? await withFigures(home, listed) : await withoutFigures(home, listed, group);
  const matching = figured.filter((seen) => letsThrough(filters, seen));
  const grouped = inGroups(matching, group, orderBy(sort));
  const page = grouped.slice(skip, end);
  const shown = needsAll ? page : await Promise.all(page.map((one) => withOwnFigures(home, one)));
  const compared = await comparedWith(home, grouped, shown, of);
  const rows: OverviewRow[] = [];
  for (const one of shown)
    rows.push({
      ...rowOf(one, await previews(one.summary), compared(one)),
      failures: failuresIn(one, filters),
    });
  return {
    total: grouped.length,
    all: found.length,
    rows,
    facets: facets === 'true' ? facetsOf(matching) : [],
  };
};

type Home = AnswerSources['home'];

const only = (list: readonly HistorySummary[], of: string | undefined): readonly HistorySummary[] => {
  if (of === undefined) return list;
  const wanted = new Set(of.split(','));
  return list.filter(({ history }) => wanted.has(history));
};

/** Those in which all phrases stand, somewhere. */
const withTexts = async (
  home: Home,
  words: ReturnType<typeof wordsOfSearch>,
  list: readonly HistorySummary[],
): Promise<readonly HistorySummary[]> => {
  let left = list;
  for (const { text, not } of words.filter(({ isPhrase }) => isPhrase)) {
    const having = await home.queries.search.historiesWith(`"${text}"`);
    left = left.filter(({ history }) => having.has(history) !== not);
  }
  return left;
};

const withFigures = async (home: Home, list: readonly HistorySummary[]): Promise<readonly SeenHistory[]> => {
  const seen: SeenHistory[] = [];
  for (const summary of list)
    seen.push({ summary, figures: await home.queries.overview.figures(summary.history, summary.frames) });
  return seen;
};

const withOwnFigures = async (home: Home, one: GroupedHistory): Promise<GroupedHistory> => ({
  ...one,
  figures: await home.queries.overview.figures(one.summary.history, one.summary.frames),
});

/** Before the figures are read: nobody looks at these, but for what groups need. */
const withoutFigures = async (
  home: Home,
  list: readonly HistorySummary[],
  group: string,
): Promise<readonly SeenHistory[]> => {
  const needsBeginning = group === 'beginning' || group === 'task';
  const seen: SeenHistory[] = [];
  for (const summary of list)
    seen.push({
      summary,
      figures: {
        ...{ calls: 0, errors: 0, tokens: 0, unpriced: 0, interventions: 0, held: 0 },
        ...{ models: [], tools: [], failures: [], main: [], cost: null, end: null },
        beginning: needsBeginning ? await home.queries.overview.beginning(summary.history) : null,
      },
    });
  return seen;
};

/** The history that each row is compared with: the first of those that were asked for, or of its group. */
const comparedWith = async (
  home: Home,
  grouped: readonly GroupedHistory[],
  shown: readonly GroupedHistory[],
  of: string | undefined,
): Promise<(one: GroupedHistory) => SeenHistory | undefined> => {
  if (of !== undefined) {
    const [first] = of.split(',');
    const chosen = grouped.find(({ summary }) => summary.history === first);
    const seen = chosen && (await withOwnFigures(home, chosen));
    return () => seen;
  }
  const firsts = firstOfGroups(grouped);
  const known = new Map<string, SeenHistory>();
  for (const group of new Set(shown.flatMap((one) => one.group ?? []))) {
    const first = firsts.get(group);
    if (first !== undefined) known.set(group, await withOwnFigures(home, first));
  }
  return (one) => known.get(one.group ?? '');
};

const LETTERS = { answered: 'a', called: 't', failed: 'f', unknown: '-' } as const;

const failuresIn = (
  { figures }: SeenHistory,
  filters: Parameters<typeof letsThrough>[0],
): OverviewRow['failures'] =>
  figures.failures
    .filter(({ name }) => isAsked(name, filters))
    .slice(0, MOST_FAILURES)
    .map(({ name, branchId, seq, cycle }) => ({ name, branchId, seq, label: `@c${cycle}` }));

const rowOf = (
  one: GroupedHistory,
  preview: string | null,
  first: SeenHistory | undefined,
): Omit<OverviewRow, 'failures'> => {
  const { summary, figures, group } = one;
  const { history, name, state, startedAt, updatedAt, source, labels, branches } = summary;
  const isFirst = first?.summary.history === history;
  return {
    ...{ history, name, preview, state, startedAt, updatedAt, group, isFirst },
    format: source?.format ?? null,
    labels: Object.fromEntries(labels.map(({ label, value }) => [label, value])),
    branches: branches.length,
    calls: figures.calls,
    errors: figures.errors,
    models: [...figures.models],
    tools: figures.tools.map((tool) => ({ ...tool })),
    called: numberOf(one, 'tools'),
    failed: numberOf(one, 'failed'),
    tokens: figures.tokens,
    cost: figures.cost && { ...figures.cost },
    unpriced: figures.unpriced,
    shape: figures.main
      .slice(0, MOST_CALLS)
      .map(({ how }) => LETTERS[how])
      .join(''),
    ended: endedWith(figures),
    parts: first === undefined || isFirst ? null : partsFrom(figures, first.figures),
    interventions: figures.interventions,
    held: figures.held,
    end: figures.end && { ...figures.end },
  };
};
