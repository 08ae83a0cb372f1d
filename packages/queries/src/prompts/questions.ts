import { bisect } from './bisect.ts';
import { blameThread } from './blame.ts';
import { buildCacheReport } from './cache.ts';
import { listCalls } from './calls.ts';
import { openCounts } from './measure.ts';
import type { Questions } from './types.ts';
import { watchSelector, type WatchSources } from './watch.ts';

export const openQuestions = (sources: WatchSources): Questions => {
  const { projection } = sources;
  const counts = openCounts();
  return {
    blame: (position, range) => blameThread(projection, position, range),
    bisect: async (branchRef, question) => {
      await projection.catchUp();
      return bisect(projection, branchRef, question, sources.load);
    },
    async *calls(branchRef, options) {
      await projection.catchUp();
      yield* listCalls(projection, branchRef, options);
    },
    watch: (name, selector, options) => watchSelector(sources, name, selector, options),
    cache: async (branchRef) => {
      await projection.catchUp();
      return buildCacheReport(projection, branchRef, counts);
    },
  };
};
