import type { ApiClient } from '@stemma/api';
import { StemmaError } from '@stemma/errors';
import { RecentMap } from '@stemma/values';
import { createContext } from 'preact';
import { useContext, useRef } from 'preact/hooks';
import { useChanges, type Changing } from '../tree/use-changes.ts';

/** An answer of the server, if it has arrived. `stale`: a newer one is on its way. */
export type Query<T> =
  | { readonly state: 'pending' }
  | { readonly state: 'failed'; readonly error: StemmaError }
  | { readonly state: 'done'; readonly value: T; readonly stale: boolean };

/**
 * Answers by key, asked for when they are first read. A key says all that the answer depends on: `old/…` never changes
 * (snapshots do not), `now/…` is read again when something happened.
 */
export type Queries = Changing & {
  /**
   * @param group of those with the same one the server is asked for one at a time; others stay pending until they are read
   *   after that, so that what went out of view meanwhile is never asked for
   */
  read<T>(key: string, load: (client: ApiClient) => Promise<T>, group?: string): Query<T>;
  /** Asks the server for something that is done once, and never kept. @throws StemmaError */
  send<T>(load: (client: ApiClient) => Promise<T>): Promise<T>;
  /** Answers under these keys are asked for again when they are read next. */
  expire(concerned: (key: string) => boolean): void;
};

type Entry = { query: Query<unknown>; loading: boolean; expired: boolean };

/** So many answers read last are kept, and at most twice as many. */
const KEPT_ENTRIES = 300;

export const createQueries = (client: ApiClient): Queries => {
  const entries = new RecentMap<string, Entry>(KEPT_ENTRIES);
  const busy = new Set<string>();
  const listeners = new Set<() => void>();
  let notified = false;
  let version = 0;

  const notify = (): void => {
    version++;
    if (notified) return;
    notified = true;
    queueMicrotask(() => {
      notified = false;
      for (const listener of listeners) listener();
    });
  };

  const start = <T>(entry: Entry, load: (client: ApiClient) => Promise<T>, group?: string): void => {
    if (group !== undefined && busy.has(group)) return;
    if (group !== undefined) busy.add(group);
    entry.loading = true;
    entry.expired = false;
    load(client)
      .then(
        (value): Query<T> => ({ state: 'done', value, stale: false }),
        (error: unknown): Query<T> => ({ state: 'failed', error: asStemmaError(error) }),
      )
      .then((query) => {
        if (group !== undefined) busy.delete(group);
        entry.loading = false;
        entry.query = query;
        notify();
      })
      .catch(() => undefined);
  };

  return {
    read: <T>(key: string, load: (client: ApiClient) => Promise<T>, group?: string): Query<T> => {
      const entry: Entry = entries.get(key) ?? { query: { state: 'pending' }, loading: false, expired: true };
      entries.set(key, entry);
      if (entry.expired && !entry.loading) start(entry, load, group);
      return entry.query as Query<T>;
    },
    send: async (load) => {
      try {
        return await load(client);
      } catch (error) {
        throw asStemmaError(error);
      }
    },
    expire: (concerned) => {
      for (const [key, entry] of entries.entries()) {
        if (!concerned(key)) continue;
        entry.expired = true;
        if (entry.query.state === 'done') entry.query = { ...entry.query, stale: true };
      }
      notify();
    },
    version: () => version,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

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

/** The key of an answer about a position: a snapshot does not change, anything else may. */
export const keyOfPosition = (history: string, reference: string | undefined, part: string): string =>
  reference?.startsWith('@c') === true
    ? `old/h/${history}/${reference}/${part}`
    : `now/h/${history}/${reference ?? 'open'}/${part}`;

const asStemmaError = (error: unknown): StemmaError =>
  error instanceof StemmaError
    ? error
    : new StemmaError('E_INTERNAL', error instanceof Error ? error.message : String(error));
