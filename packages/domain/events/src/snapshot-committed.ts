import { z } from 'zod';
import { count } from './node-shape.ts';

const sha256 = z.custom<Uint8Array>((bytes) => bytes instanceof Uint8Array && bytes.length === 32);

/** Numbers at a position: all nodes (root and regions included), blocks, turns. */
const counts = z.strictObject({ nodes: count, blocks: count, turns: count });

/** The snapshot of a cycle: the tree at this point, which never changes (context-tree §3.5; hashes: snapshots). */
export const SnapshotCommitted = z.strictObject({
  type: z.literal('SnapshotCommitted'),
  cycle: count,
  treeHash: sha256,
  threadHash: sha256,
  counts,
});

/**
 * Like `SnapshotCommitted`, for a state that was imported unchanged: nothing aged, expired or was sealed (context-tree
 * §10.17).
 */
export const SnapshotImported = SnapshotCommitted.extend({ type: z.literal('SnapshotImported') });
