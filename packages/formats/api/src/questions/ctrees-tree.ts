import { z } from 'zod';
import { StageHashes, hash, ids, session, settings, stageName } from '../ctrees.ts';
import type { Question } from '../endpoint.ts';
import { anyJson, count } from '../values.ts';

export const CtreeView = z
  .strictObject({
    root_id: z.string(),
    nodes: z.array(
      z.strictObject({
        id: z.string(),
        parent_id: z.string().nullable(),
        kind: z.string(),
        turn: z.int().nullable(),
        label: z.string(),
        meta: z.record(z.string(), anyJson),
      }),
    ),
    stage: stageName,
    selection: z.strictObject({
      stage: stageName,
      candidate_count: count,
      kept_count: count,
      dropped_count: count,
      collapsed_count: count,
      pinned_count: count,
      candidate_ids: ids,
      kept_ids: ids,
      dropped_ids: ids,
      collapsed_ids: ids,
      pinned_ids: ids,
      selection_sha256: hash,
    }),
    hashes: StageHashes.extend({ tree_sha256: hash }),
  })
  .meta({ id: 'CtreeView' });

export type CtreeView = z.infer<typeof CtreeView>;

export const ctreesTree = {
  name: 'ctreesTree',
  method: 'GET',
  path: '/sessions/{session}/ctrees/tree',
  summary: 'Returns a stage as a tree of turns and nodes.',
  params: session,
  query: z.strictObject({
    stage: stageName.optional().describe('the stage (default: FROZEN)'),
    include_previews: z
      .enum(['true', 'false', '1', '0'])
      .optional()
      .describe('the beginning of each message, with likely secrets redacted (default: false)'),
    ...settings,
  }),
  answer: { kind: 'json', status: 200, schema: CtreeView },
  errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
