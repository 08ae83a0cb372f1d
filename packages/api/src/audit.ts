import { z } from 'zod';
import { Comparison } from './comparison.ts';
import type { Endpoint } from './endpoint.ts';
import { historyParam, wholeInQuery } from './values.ts';

const history = z.strictObject({ history: historyParam });

const compared = z
  .string()
  .min(1)
  .max(900)
  .describe('a lineage by name or number, or a position: @c3, LINEAGE@c3, @name:NAME');

/** Endpoints of what an auditor asks (docs/audit.md). */
export const AUDIT = {
  compare: {
    method: 'GET',
    path: '/api/histories/{history}/compare',
    summary: 'Two lineages or positions side by side: where they parted, by whom, what each did since.',
    params: history,
    query: z.strictObject({
      a: compared,
      b: compared,
      excerpt: wholeInQuery
        .optional()
        .describe('characters of each content; at most 100,000; 2,000 unless said'),
    }),
    answer: { kind: 'json', status: 200, schema: Comparison },
    errors: ['E_HISTORY_NOT_FOUND', 'E_LINEAGE_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
  comparePage: {
    method: 'GET',
    path: '/api/histories/{history}/compare.html',
    summary: 'The same as a page of one file that can be sent to someone: nothing in it runs or is fetched.',
    params: history,
    query: z.strictObject({ a: compared, b: compared }),
    answer: { kind: 'bytes', mime: 'text/html; charset=utf-8', describe: 'HTML' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_LINEAGE_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
} as const satisfies Record<string, Endpoint>;
