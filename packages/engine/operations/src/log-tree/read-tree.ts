import { fail } from '@stemma/errors';
import {
  checkpointAtStart,
  readPartition,
  type AcceptedFrame,
  type EventLog,
  type HeadState,
} from '@stemma/log';
import { EMPTY_TREE, leafHash, withLeaf, type GrowingTree } from '@stemma/merkle';

/** Told of each leaf: the tree with it, the leaf, and the frame that it stands for. */
export type LeafVisitor = (tree: GrowingTree, leaf: Uint8Array, frame: AcceptedFrame) => void;

/**
 * Grows the tree of a partition: one leaf for each accepted frame of a history, in the order of the log; its data is the
 * frame's SHA-256 (decision 0059).
 *
 * @throws E_PARTITION_CLOSED if damage closes the partition: what follows cannot be known
 */
export const readTree = async (
  log: EventLog,
  partition: number,
  visit: LeafVisitor = () => undefined,
  count: (offset: number) => void = () => undefined,
): Promise<GrowingTree> => {
  const known = new Map<string, HeadState>();
  const checkpoint = await checkpointAtStart(log, partition);
  let tree = EMPTY_TREE;
  for await (const batch of readPartition(log, { checkpoint, heads: { load: () => known } })) {
    for (const [history, head] of batch.heads) known.set(history, head);
    for (const frame of batch.accepted) {
      if (frame.control) continue;
      const leaf = leafHash(frame.hash);
      tree = withLeaf(tree, leaf);
      visit(tree, leaf, frame);
    }
    if (batch.held !== null)
      throw fail(
        'E_PARTITION_CLOSED',
        `the damaged record ${partition}@${batch.held} may belong to any history`,
        {
          partition,
          offset: batch.held,
        },
      );
    count(batch.checkpoint.cursor.offset);
  }
  return tree;
};
