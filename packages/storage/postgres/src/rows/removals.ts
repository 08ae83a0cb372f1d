import type { DatabaseSession } from '../database/database.ts';
import { schemaOf } from './statements.ts';

/** Milliseconds for which what was read is believed. The server tells what a session deleted when it ends, or is idle for ten seconds. */
const MAX_AGE = 1_000;

/** By table, what changes when rows are removed from it: the file of the table, which `truncate` replaces, and how many were deleted. */
export type Removals = ReadonlyMap<string, string>;

/**
 * Reads it for the tables of a schema, at most once a second. Where the server counts nothing (`track_counts = off`) only truncated
 * tables change.
 *
 * @param now a steady clock in milliseconds
 */
export const openRemovals = (
  now: () => number,
): ((session: DatabaseSession, number: number) => Promise<Removals>) => {
  let known: { readonly at: number; readonly number: number; readonly removals: Removals } | undefined;
  return async (session, number) => {
    if (known?.number === number && now() - known.at < MAX_AGE) return known.removals;
    const rows = await session.query(
      `select c.relname, c.relfilenode || ' ' || pg_stat_get_tuples_deleted(c.oid)
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
      [schemaOf(number)],
    );
    const removals = new Map(rows.map(([table, removed]) => [table ?? '', removed ?? '']));
    known = { at: now(), number, removals };
    return removals;
  };
};
