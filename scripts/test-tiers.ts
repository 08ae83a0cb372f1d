/**
 * The tiers of tests, as file names say (`x.unit.test.ts`):
 *
 * - `unit`: one part alone, in memory; of files it reads what is committed, and writes at most a temporary one.
 * - `int`: several parts, or real files, sockets, workers, a database, a broker that the run shares.
 * - `e2e`: starts processes, a browser, containers, or servers of its own that it ends or kills.
 */
export const TIERS = ['e2e', 'int', 'unit'] as const;

/**
 * A drill (`x.drill.e2e.test.ts`) kills, stops or fills whole systems of processes for as long as a minute. Every rule that
 * it cites has a test that is none (spec-coverage.ts checks that), so a run without drills leaves out sizes and no rule.
 */
export const DRILL = '.drill.e2e.test.';

/**
 * The stage of a run of all tests. `short`: all but drills, at small sizes. `long`: drills, and every file that has more to do in a
 * long run. Undefined: whoever names a file, a folder or a tier runs what is there.
 */
export const stage = process.env['STEMMA_STAGE'] as 'short' | 'long' | undefined;
