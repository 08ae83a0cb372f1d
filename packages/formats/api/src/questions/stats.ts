import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { anyJson } from '../values.ts';

const Stats = z.record(z.string(), anyJson).meta({ id: 'Stats' });

export const stats = {
  name: 'stats',
  method: 'GET',
  path: '/api/stats',
  summary: 'Returns sizes and counts of the log, the rows and the contents.',
  answer: { kind: 'json', status: 200, schema: Stats },
  errors: [],
} as const satisfies Question;
