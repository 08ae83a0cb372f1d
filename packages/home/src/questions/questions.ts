import type { Projector } from '@stemma/projector';
import { blameThread } from './blame.ts';
import { bisect } from './bisect.ts';
import { cacheReport } from './cache.ts';
import type { Counts } from './measure.ts';
import type { Questions } from './types.ts';

export const questionsOf = (projector: Projector): Questions => {
  const counts: Counts = new Map();
  return {
    blame: (position, range) => blameThread(projector, position, range),
    bisect: (line, question) => bisect(projector, line, question),
    cache: (line) => cacheReport(projector, line, counts),
  };
};
