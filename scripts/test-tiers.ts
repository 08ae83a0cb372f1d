/**
 * The tiers of tests, as file names say (`x.unit.test.ts`):
 *
 * - `unit`: one part alone, in memory; of files it reads what is committed, and writes at most a temporary one.
 * - `int`: several parts, or real files, sockets, workers, a database, a broker that the run shares.
 * - `e2e`: starts processes, a browser, containers, or servers of its own that it ends or kills.
 */
export const TIERS = ['e2e', 'int', 'unit'] as const;
