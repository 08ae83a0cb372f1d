import { bisect } from './bisect.ts';
import { blameThread } from './blame.ts';
import { cacheReport } from './cache.ts';
import type { Counts } from './measure.ts';
import type { Questions } from './types.ts';
import { watchSelector, type WatchSources } from './watch.ts';

export const questionsOf = (sources: WatchSources): Questions => {
  const { projector } = sources;
  const counts: Counts = new Map();
  return {
    blame: (position, range) => blameThread(projector, position, range),
    bisect: async (line, question) => {
      await projector.catchUp();
      return bisect(projector, line, question, sources.load);
    },
    watch: (name, selector, options) => watchSelector(sources, name, selector, options),
    cache: async (line) => {
      await projector.catchUp();
      return cacheReport(projector, line, counts);
    },
  };
};
