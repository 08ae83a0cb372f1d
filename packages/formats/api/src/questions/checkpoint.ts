import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count } from '../values.ts';

/** What `stemma checkpoint` prints: to keep where nobody can change it together with the log. */
const SignedCheckpoint = z
  .strictObject({
    log: z.string().describe('the id of the log'),
    publicKey: z.string().describe('the key that checks the signatures: keep it apart from the checkpoint'),
    partitions: z.array(z.strictObject({ partition: count, size: count, root: z.base64() })),
    checkpoint: z.string().describe('signed notes, one for each partition'),
  })
  .meta({ id: 'SignedCheckpoint' });

export const checkpoint = {
  name: 'checkpoint',
  method: 'GET',
  path: '/api/checkpoint',
  summary: 'Signs what the log holds now; `stemma verify --since` shows later that it only grew.',
  answer: { kind: 'json', status: 200, schema: SignedCheckpoint },
  errors: ['E_PARTITION_CLOSED', 'E_KEY_INVALID', 'E_FILE_GONE', 'E_BROKERS_UNREACHABLE'],
} as const satisfies Question;
