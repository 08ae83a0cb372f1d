import { z } from 'zod';
import { ComparisonAnswer } from './comparison.ts';
import type { Endpoint } from './endpoint.ts';
import { ImpactAnswer } from './impact.ts';
import { InterventionAnswer, InterventionPageAnswer, interventionTypes } from './interventions.ts';
import { count, historyParam, reference, sha256, wholeInQuery } from './values.ts';

const history = z.strictObject({ history: historyParam });

const compared = z
  .string()
  .min(1)
  .max(900)
  .describe(
    'a branch by name or number, or a position: @c3, BRANCH@c3, @name:NAME; of another history OTHER@c3 or OTHER:BRANCH',
  );

const filter = z.strictObject({
  type: z.enum(interventionTypes).optional(),
  actor: z.string().min(1).max(300).optional(),
  after: z.iso.datetime({ offset: true }).optional().describe('the earliest time'),
  before: z.iso.datetime({ offset: true }).optional().describe('the time that all are earlier than'),
  snapshot: reference.optional().describe('the position before or after the intervention'),
  branch: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe('the branch, by name or number (default: all branches)'),
});

const experimentRun = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    commands: count,
    repeated: count.describe('commands recorded before: all of them if the experiment was run before'),
    snapshots: count.describe('snapshots with the recorded hashes'),
    tree: sha256,
    thread: sha256,
  })
  .meta({ id: 'ExperimentRun' });

const missing = ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'] as const;

/** Endpoints of what an auditor asks (docs/audit.md). */
export const AUDIT = {
  compare: {
    method: 'GET',
    path: '/api/histories/{history}/compare',
    summary:
      'Compares two branches or positions, of one history or two: the merge base, who forked, what differs and why.',
    params: history,
    query: z.strictObject({
      a: compared,
      b: compared,
      excerpt: wholeInQuery
        .optional()
        .describe('characters of each content, at most 100,000 (default: 2,000)'),
    }),
    answer: { kind: 'json', status: 200, schema: ComparisonAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
  comparePage: {
    method: 'GET',
    path: '/api/histories/{history}/compare.html',
    summary: 'Returns the comparison as a self-contained page without scripts or external files.',
    params: history,
    query: z.strictObject({ a: compared, b: compared }),
    answer: { kind: 'bytes', mime: 'text/html; charset=utf-8', describe: 'HTML' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
  interventions: {
    method: 'GET',
    path: '/api/histories/{history}/interventions',
    summary: 'Lists the interventions in a history, a page at a time.',
    params: history,
    query: filter.extend({
      from: wholeInQuery.optional().describe('the first frame of the page: `next` of the previous page'),
      limit: wholeInQuery.optional().describe('the most to return, at most 1,000 (default: 100)'),
      order: z.enum(['oldest', 'newest']).optional().describe('which comes first (default: oldest)'),
    }),
    answer: { kind: 'json', status: 200, schema: InterventionPageAnswer },
    errors: missing,
  },
  intervention: {
    method: 'GET',
    path: '/api/histories/{history}/interventions/{id}',
    summary: 'Returns one intervention, by its id or its frame (`@s57`).',
    params: history.extend({ id: z.string().min(1).max(800) }),
    answer: { kind: 'json', status: 200, schema: InterventionAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_INTERVENTION_NOT_FOUND'],
  },
  impact: {
    method: 'GET',
    path: '/api/histories/{history}/interventions/{id}/impact',
    summary:
      'Returns the impact of an intervention: the calls that were shown what it added, or what was derived from it.',
    params: history.extend({ id: z.string().min(1).max(800) }),
    answer: { kind: 'json', status: 200, schema: ImpactAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_INTERVENTION_NOT_FOUND'],
  },
  interventionLines: {
    method: 'GET',
    path: '/api/histories/{history}/intervention-lines',
    summary: 'Streams all matching interventions, oldest first, as JSON lines or as CSV.',
    params: history,
    query: filter.extend({
      format: z.enum(['jsonl', 'csv']).optional().describe('the format (default: jsonl)'),
    }),
    answer: { kind: 'bytes', mime: 'application/jsonl', describe: 'JSON lines, or CSV (text/csv)' },
    errors: missing,
  },
  experiment: {
    method: 'GET',
    path: '/api/histories/{history}/experiment',
    summary: 'Exports a branch up to a position as an experiment: a file that runs again to the same hashes.',
    params: history,
    query: z.strictObject({ at: reference.optional() }),
    answer: { kind: 'bytes', mime: 'application/json', describe: 'the experiment, JSON' },
    errors: missing,
  },
  runExperiment: {
    method: 'POST',
    path: '/api/experiments',
    summary:
      'Runs an experiment in a new history. Sent again, it continues where it stopped and has one effect.',
    body: z.strictObject({
      experiment: z.string().min(2).describe('the text of the file'),
      name: z
        .string()
        .nullable()
        .optional()
        .describe('the name of the new history; without one its id derives from the file'),
    }),
    answer: { kind: 'json', status: 200, schema: experimentRun },
    errors: [
      'E_EXPERIMENT_INVALID',
      'E_EXPERIMENT_DIVERGED',
      'E_INPUT_NOT_JSON',
      'E_HISTORY_EXISTS',
      'E_NAME_INVALID',
    ],
  },
} as const satisfies Record<string, Endpoint>;
