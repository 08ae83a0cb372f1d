import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

/** Whose code is counted: what the repository is made of, not what it uses or the tests themselves. */
const isOurs = (url: string): boolean =>
  /\/(packages|services)\/.*\/src\//.test(url) && !url.includes('/node_modules/') && !/test/.test(url);

/**
 * How much work each of these calls does: how often it runs functions and blocks of our sources, as the engine counts them. Growth
 * is asserted by these counts, which no other program on the machine changes.
 */
export const countWork = async (calls: readonly (() => unknown)[]): Promise<readonly number[]> => {
  // Optimised code counts nothing.
  for (const tier of ['opt', 'maglev']) setFlagsFromString(`--no-${tier}`);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const take = async (): Promise<number> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => isOurs(url))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
      .reduce((sum, count) => sum + count, 0);
  };
  try {
    const counts: number[] = [];
    for (const call of calls) {
      // What a first call compiles and keeps is no work of the second.
      await call();
      await take();
      await call();
      counts.push(await take());
    }
    return counts;
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    await session.post('Profiler.disable');
    session.disconnect();
    for (const tier of ['opt', 'maglev']) setFlagsFromString(`--${tier}`);
  }
};
