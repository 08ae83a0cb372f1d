import { bisect } from './bisect.ts';
import { blameThread } from './blame.ts';
import { buildCacheReport } from './cache.ts';
import { listCalls } from './calls.ts';
import { openCounts } from './measure.ts';
import { listPromptSizes } from './sizes.ts';
import type { Questions } from './types.ts';
import { watchSelector, type WatchSources } from './watch.ts';
import { catchUpWith } from '../catch-up-with.ts';

export const openQuestions = (sources: WatchSources): Questions => {
  const { projection } = sources;
  const counts = openCounts();
  return {
    blame: (position, range) => blameThread(projection, position, range),
    bisect: async (branchRef, question) => {
      await catchUpWith(projection, branchRef.history);
      return bisect(projection, branchRef, question, sources.load);
    },
    async *calls(branchRef, options) {
      await catchUpWith(projection, branchRef.history);
      yield* listCalls(projection, branchRef, options);
    },
    sizes: async (branchRef, options) => {
      await catchUpWith(projection, branchRef.history);
      return listPromptSizes(projection, branchRef, counts, options);
    },
    watch: (name, selector, options) => watchSelector(sources, name, selector, options),
    cache: async (branchRef) => {
      await catchUpWith(projection, branchRef.history);
      return buildCacheReport(projection, branchRef, counts);
    },
  };
};
