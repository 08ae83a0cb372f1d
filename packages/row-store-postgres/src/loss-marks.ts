import type { DatabaseSession } from '@stemma/postgres';
import { schemaOf } from './statements.ts';

/** Milliseconds for which marks are believed. The server tells what a session deleted when it ends, or is idle for ten seconds. */
const MAX_AGE = 1_000;

/** By table, what changes when rows are removed from it: the file of the table, which `truncate` replaces, and how many were deleted. */
export type LossMarks = ReadonlyMap<string, string>;

/**
 * Reads the marks of a schema, at most once a second. A server that counts nothing (`track_counts = off`) marks truncated
 * tables only.
 *
 * @param now a steady clock in milliseconds
 */
export const openLossMarks = (
  now: () => number,
): ((session: DatabaseSession, number: number) => Promise<LossMarks>) => {
  let known: { readonly at: number; readonly number: number; readonly marks: LossMarks } | undefined;
  return async (session, number) => {
    if (known?.number === number && now() - known.at < MAX_AGE) return known.marks;
    const rows = await session.query(
      `select c.relname, c.relfilenode || ' ' || pg_stat_get_tuples_deleted(c.oid)
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
      [schemaOf(number)],
    );
    const marks = new Map(rows.map(([table, mark]) => [table ?? '', mark ?? '']));
    known = { at: now(), number, marks };
    return marks;
  };
};
