import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { callLink, mayContinue } from '../summaries.ts';
import { count, historyParams, milliseconds, reference } from '../values.ts';

const cycleOf = count.nullable().describe('the newest cycle at the position; null before the first');

/** A branch in the tree of its history. */
export const BranchNodeAnswer = z
  .strictObject({
    branch: z.string(),
    branchId: count,
    name: z.string().nullable(),
    how: z.enum(['start', 'fork', 'rollback']),
    parent: z
      .strictObject({ branchId: count, seq: count, cycle: cycleOf, label: z.string() })
      .nullable()
      .describe('the position it starts from; null for the first branch'),
    called_by: callLink
      .nullable()
      .describe('the call that led to its conversation, as a recorder guessed or somebody said; null: none'),
    may_continue: mayContinue,
    abandoned_by: count
      .nullable()
      .describe('the branch that the rollback started; null unless this branch is abandoned'),
    startedAt: milliseconds,
    updatedAt: milliseconds,
    seq: count,
    cycle: count.nullable(),
    frames: count,
    description: z.string(),
    saved: z.array(z.strictObject({ name: z.string(), seq: count, cycle: cycleOf, label: z.string() })),
  })
  .meta({ id: 'BranchNode' });

export type BranchNodeAnswer = z.infer<typeof BranchNodeAnswer>;

export const branches = {
  name: 'branches',
  method: 'GET',
  path: '/api/histories/{history}/branches',
  summary:
    'Lists the branches of a history, oldest first; with `of`, only the branches on the ancestor path of a position, from the root.',
  params: historyParams,
  query: z.strictObject({ of: reference.optional() }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({ history: z.string(), branches: z.array(BranchNodeAnswer) }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
} as const satisfies Question;
