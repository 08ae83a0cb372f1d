import type { OverviewRow } from '@stemma/api';
import { useState } from 'preact/hooks';
import type { Address } from '../page/address.ts';
import { useQueries, useQuery, type Query } from '../asking/queries.ts';
import { useChanges } from '../tree/use-changes.ts';

const PAGE = 100;

export type RunsQuestion = Pick<Address, 'q' | 'sort' | 'group' | 'of'>;

export const GROUPS = ['task', 'beginning', 'none'] as const;

/** What the address asks for: without words about it, the newest first, by task. */
const askedOf = ({ q, sort, group, of }: RunsQuestion) => ({
  ...(q === null ? {} : { q }),
  sort: sort ?? '-updated',
  group: group ?? 'task',
  ...(of === null ? {} : { of }),
});

const keyOf = (question: RunsQuestion): string => JSON.stringify(askedOf(question));

/** The rows of as many pages as were asked for, and how to ask for one more. */
export type Runs = {
  readonly first: Query<{
    readonly total: number;
    readonly all: number;
    readonly rows: readonly OverviewRow[];
  }>;
  readonly rows: readonly OverviewRow[];
  readonly more: () => void;
};

export const useRuns = (question: RunsQuestion): Runs => {
  const key = keyOf(question);
  const [pages, setPages] = useState<{ readonly key: string; readonly count: number }>({ key, count: 1 });
  const count = pages.key === key ? pages.count : 1;
  const queries = useQueries();
  useChanges(queries);
  const asked = askedOf(question);
  const first = useQuery(
    `now/list/overview/0/${key}`,
    (client) => client.overview({ ...asked, limit: PAGE }),
    'overview',
    'overview',
  );
  const others = Array.from({ length: count - 1 }, (_, i) =>
    queries.read(
      `now/list/overview/${i + 1}/${key}`,
      (client) => client.overview({ ...asked, limit: PAGE, skip: PAGE * (i + 1) }),
      'overview',
    ),
  );
  const rows = [first, ...others].flatMap((query) => (query.state === 'done' ? query.value.rows : []));
  const total = first.state === 'done' ? first.value.total : 0;
  return {
    first,
    rows,
    more: () => {
      if (rows.length >= PAGE * count && rows.length < total) setPages({ key, count: count + 1 });
    },
  };
};

/** What all that match have, with the filters for it. */
export const useFacets = (question: RunsQuestion) => {
  const { q, of } = askedOf({ ...question, sort: null, group: 'none' });
  const asked = { ...(q === undefined ? {} : { q }), ...(of === undefined ? {} : { of }) };
  return useQuery(
    `now/list/facets/${JSON.stringify(asked)}`,
    (client) => client.overview({ ...asked, facets: 'true', limit: 1 }),
    'facets',
    'overview',
  );
};
