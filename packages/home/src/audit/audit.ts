import type { Projector } from '@stemma/projector';
import { compareLines } from './compare.ts';
import type { Audit } from './types.ts';

export const auditOf = (projector: Projector): Audit => ({
  compare: (line, a, b, options) => compareLines(projector, line, a, b, options),
});
