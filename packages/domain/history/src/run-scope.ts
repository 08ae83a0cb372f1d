/** What the scope of the calls of a run begins with (calls §3): `run:6f0c…`. */
const RUN = 'run:';

/** The scope of the calls of a run of a program. */
export const scopeOfRun = (run: string): string => `${RUN}${run}`;

/** True for such a scope. */
export const isRunScope = (scope: string): boolean => scope.startsWith(RUN);

/** The run whose calls have a scope; null: it is that of other calls. */
export const runOfScope = (scope: string): string | null =>
  isRunScope(scope) ? scope.slice(RUN.length) : null;
