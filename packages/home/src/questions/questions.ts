import type { Projector } from '@stemma/projector';
import { blameThread } from './blame.ts';
import type { Questions } from './types.ts';

export const questionsOf = (projector: Projector): Questions => ({
  blame: (position, range) => blameThread(projector, position, range),
});
