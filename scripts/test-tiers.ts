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
const DRILL = '.drill.e2e.test.';
/**
 * Dear by what it shows (`x.long.e2e.test.ts`, `x.long.int.test.ts`): every session of a page of docs, one more view of the page in a
 * browser, a command as a process where another test runs it in this one. As for drills, no rule is left to these alone.
 */
const DEAR = '.long.';

/** What the names of files hold that a run of all tests leaves to the long stage. */
export const LEFT_OUT: readonly string[] = [DRILL, DEAR];

/** The tag of a dear test in a file of which others are not: only the long stage runs it, and whoever names the file. */
export const LONG = 'long';

export const isOfLongStage = (file: string): boolean => LEFT_OUT.some((part) => file.includes(part));

/**
 * The stage of a run of all tests. `short`: all but drills and what is dear, at small sizes. `long`: those, and every file that has more to do in a
 * long run. Undefined: whoever names a file, a folder or a tier runs what is there.
 */
export const stage = process.env['STEMMA_STAGE'] as 'short' | 'long' | undefined;
