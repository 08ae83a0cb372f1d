import { z } from 'zod';
import { anyJson, count, reference } from './values.ts';

/*
 * The compiler stages of a history (compiler-stages), under the addresses that clients of C-Trees know. No answer holds
 * text of a message or tool result, but previews where `include_previews` asks for them.
 */

export const hash = z.string().regex(/^[0-9a-f]{40}$|^[0-9a-f]{64}$/);
export const StageHashes = z
  .strictObject({ node_hash: hash, z1: hash, z2: hash, z3: hash })
  .meta({ id: 'StageHashes' });
export const stageName = z.enum(['RAW', 'SPEC', 'HEADER', 'FROZEN']);
export const ids = z.array(z.string());

/** A node of the stream in hashes. `payload` is that of lifecycle nodes (ordinals and a cycle), null for all others. */
export const CtreeNode = z
  .strictObject({
    node_id: z.string(),
    ordinal: count,
    kind: z.string(),
    turn: z.int().nullable(),
    label: z.string(),
    digest: hash,
    payload_hash: hash,
    payload_shape: z.union([z.string(), z.array(z.union([z.string(), z.int()]))]),
    payload: anyJson,
    frame: count.describe('the `seq` of the frame that added it'),
  })
  .meta({ id: 'CtreeNode' });
export type CtreeNode = z.infer<typeof CtreeNode>;

const stage = z.looseObject({ schema_version: z.string() });

/** The whole output of the compiler. */
const CtreeCompiler = z
  .strictObject({
    kind: z.literal('ctree_compiler'),
    compiler_version: z.string(),
    schema_version: z.string(),
    node_count: count,
    event_count: count,
    has_prompt_summary: z.boolean(),
    hashes: StageHashes,
    stages: z.strictObject({ RAW: stage, SPEC: stage, HEADER: stage, FROZEN: stage }),
  })
  .meta({ id: 'CtreeCompiler' });

const collapsed = {
  target: z.int().nullable(),
  drop: ids,
  collapse: ids,
  node_count: count,
  ordering: z.literal('append'),
};

export const Ctrees = z
  .strictObject({
    snapshot: z.strictObject({
      schema_version: z.string(),
      node_count: count,
      event_count: count,
      last_id: z.string().nullable(),
      node_hash: hash,
    }),
    last_node: CtreeNode.nullable(),
    compiler: CtreeCompiler,
    collapse: z.strictObject({
      kind: z.literal('deterministic'),
      mode: z.enum(['none', 'all_but_last']),
      kinds: ids.nullable(),
      dropped: count,
      collapsed: count,
      stages: z.array(z.strictObject({ stage: stageName, ...collapsed })),
      ...collapsed,
    }),
    hashes: StageHashes,
  })
  .meta({ id: 'Ctrees' });
export type Ctrees = z.infer<typeof Ctrees>;
export const session = z.strictObject({
  session: z.string().min(1).max(600).describe('a history or branch, by id or name'),
});
export const settings = {
  at: reference.optional(),
  profile: z.enum(['stemma-1', 'breadboard-0.1']).optional().describe('the profile (default: stemma-1)'),
};
