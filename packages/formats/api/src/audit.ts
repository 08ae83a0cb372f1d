import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { interventionTypes } from './interventions.ts';
import { count, reference, sha256 } from './values.ts';

export const compared = z
  .string()
  .min(1)
  .max(900)
  .describe(
    'a branch by name or number, or a position: @c3, BRANCH@c3, @name:NAME; of another history OTHER@c3 or OTHER:BRANCH',
  );

export const filter = z.strictObject({
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

/** Endpoints of what an auditor asks (docs/audit.md). */
export const AUDIT = {
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
