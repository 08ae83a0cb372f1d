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
  .describe('a branch by name or number, or a position: @c3, BRANCH@c3, @name:NAME');

const filter = z.strictObject({
  type: z.enum(interventionTypes).optional(),
  actor: z.string().min(1).max(300).optional(),
  after: z.iso.datetime({ offset: true }).optional().describe('at this time or later'),
  before: z.iso.datetime({ offset: true }).optional().describe('earlier than this time'),
  snapshot: reference.optional().describe('with this position before or after it'),
  branch: z.string().min(1).max(300).optional().describe('on this branch, by name or number'),
});

const experimentRun = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    commands: count,
    repeated: count.describe('commands that were there already: all of them when it had been run before'),
    snapshots: count.describe('snapshots that came to the recorded hashes'),
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
    summary: 'Two branches or positions side by side: where they parted, by whom, what each did since.',
    params: history,
    query: z.strictObject({
      a: compared,
      b: compared,
      excerpt: wholeInQuery
        .optional()
        .describe('characters of each content; at most 100,000; 2,000 unless said'),
    }),
    answer: { kind: 'json', status: 200, schema: ComparisonAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
  comparePage: {
    method: 'GET',
    path: '/api/histories/{history}/compare.html',
    summary: 'The same as a page of one file that can be sent to someone: nothing in it runs or is fetched.',
    params: history,
    query: z.strictObject({ a: compared, b: compared }),
    answer: { kind: 'bytes', mime: 'text/html; charset=utf-8', describe: 'HTML' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
  interventions: {
    method: 'GET',
    path: '/api/histories/{history}/interventions',
    summary: 'A page of what observers did to a history, and why.',
    params: history,
    query: filter.extend({
      from: wholeInQuery.optional().describe('from this frame on, or back: `next` of the page before'),
      limit: wholeInQuery.optional().describe('at most 1,000; 100 unless said'),
      order: z.enum(['oldest', 'newest']).optional().describe('which comes first; oldest unless said'),
    }),
    answer: { kind: 'json', status: 200, schema: InterventionPageAnswer },
    errors: missing,
  },
  intervention: {
    method: 'GET',
    path: '/api/histories/{history}/interventions/{id}',
    summary: 'One intervention, by its id or its frame (`@s57`).',
    params: history.extend({ id: z.string().min(1).max(800) }),
    answer: { kind: 'json', status: 200, schema: InterventionAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_INTERVENTION_NOT_FOUND'],
  },
  impact: {
    method: 'GET',
    path: '/api/histories/{history}/interventions/{id}/impact',
    summary:
      'What an intervention led to: the calls that were shown what it brought in, or what was made of it.',
    params: history.extend({ id: z.string().min(1).max(800) }),
    answer: { kind: 'json', status: 200, schema: ImpactAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_INTERVENTION_NOT_FOUND'],
  },
  interventionLines: {
    method: 'GET',
    path: '/api/histories/{history}/intervention-lines',
    summary: 'All interventions that are asked for, oldest first, streamed as JSON lines or as CSV.',
    params: history,
    query: filter.extend({ format: z.enum(['jsonl', 'csv']).optional().describe('jsonl unless said') }),
    answer: { kind: 'bytes', mime: 'application/jsonl', describe: 'JSON lines, or CSV (text/csv)' },
    errors: missing,
  },
  experiment: {
    method: 'GET',
    path: '/api/histories/{history}/experiment',
    summary: 'A branch up to a position as an experiment: a file that runs again to the same hashes.',
    params: history,
    query: z.strictObject({ at: reference.optional() }),
    answer: { kind: 'bytes', mime: 'application/json', describe: 'the experiment, JSON' },
    errors: missing,
  },
  runExperiment: {
    method: 'POST',
    path: '/api/experiments',
    summary:
      'Does an experiment again, in a history of its own. Sent again it does what is not done yet, and has one effect.',
    body: z.strictObject({
      experiment: z.string().min(2).describe('the text of the file'),
      name: z
        .string()
        .nullable()
        .optional()
        .describe('of the history; its id derives from the file without one'),
    }),
    answer: { kind: 'json', status: 200, schema: experimentRun },
    errors: [
      'E_EXPERIMENT_INVALID',
      'E_EXPERIMENT_PARTED',
      'E_INPUT_NOT_JSON',
      'E_HISTORY_EXISTS',
      'E_NAME_INVALID',
    ],
  },
} as const satisfies Record<string, Endpoint>;
