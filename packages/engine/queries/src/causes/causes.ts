import type { Projection } from '@stemma/projector';
import { explainPositions } from './explain.ts';
import type { Causes } from './types.ts';
import { whyNode } from './why.ts';

export const openCauses = (projection: Projection): Causes => ({
  explain: (a, b) => explainPositions(projection, a, b),
  why: (position, id) => whyNode(projection, position, id),
});
