import { z } from 'zod';
/** Why something about a node is as it is (docs/questions.md). */
export const Cause = z
  .looseObject({
    kind: z.enum(['mutation', 'import', 'expiry', 'cascade', 'pruning', 'ageing', 'sealing', 'hold']),
  })
  .meta({ id: 'CacheCause' });
