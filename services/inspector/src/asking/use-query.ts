import type { ApiClient } from '@stemma/api';
import { createContext } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import type { Queries, Query } from './queries.ts';
import { useChanges } from '../tree/use-changes.ts';

export const QueriesContext = createContext<Queries | null>(null);

export const useQueries = (): Queries => {
  const queries = useContext(QueriesContext);
  if (queries === null) throw new TypeError('there are no queries around this component');
  return queries;
};

/**
 * The answer to a query. While another of the same family is on its way, the last one stays, marked as stale: so the
 * page does not flicker while the user steps through cycles.
 */
export const useQuery = <T>(
  key: string,
  load: (client: ApiClient) => Promise<T>,
  family = key,
  group?: string,
): Query<T> => {
  const queries = useQueries();
  useChanges(queries);
  const last = useRef<{ readonly family: string; readonly value: T } | null>(null);
  const query = queries.read(key, load, group);
  if (query.state === 'done') last.current = { family, value: query.value };
  if (query.state !== 'pending' || last.current?.family !== family) return query;
  return { state: 'done', value: last.current.value, stale: true };
};
