import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count } from '../values.ts';

/** Which histories cannot be served as far as they go. `stemma verify` reads every record and says where and why. */
const VerifyStatus = z
  .strictObject({
    ok: z.boolean(),
    histories: count,
    damaged: z.array(z.string()),
    defective: z.array(z.string()),
  })
  .meta({ id: 'VerifyStatus' });

export const verify = {
  name: 'verify',
  method: 'GET',
  path: '/api/verify',
  summary: 'Lists the damaged and defective histories in the part of the log read so far.',
  answer: { kind: 'json', status: 200, schema: VerifyStatus },
  errors: [],
} as const satisfies Question;
