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

/** False in `npm test` outside CI; whoever names a drill, a tier or `STEMMA_DRILLS=1` runs them. */
export const withDrills = process.env['STEMMA_DRILLS'] !== '0';
