import type { ServedRows } from '@stemma/projector';
import { explainPositions } from './explain.ts';
import type { Causes } from './types.ts';
import { whyNode } from './why.ts';

export const causesOf = (projector: ServedRows): Causes => ({
  explain: (a, b) => explainPositions(projector, a, b),
  why: (position, id) => whyNode(projector, position, id),
});
