import { z } from 'zod';
import { count, id } from './node-shape.ts';
import { node } from './recorded-node.ts';

/** A node was inserted under `parent`; a subtree is one event per node, parents first (context-tree §3, §10.6). */
export const NodeInserted = z.strictObject({
  type: z.literal('NodeInserted'),
  parent: id,
  node,
  /** The first cycle whose snapshot no longer has it; null: it stays (snapshots: expires). */
  expires: count.nullable(),
});
