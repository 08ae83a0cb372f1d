import { fail } from '@stemma/errors';
import type { EventLog } from '@stemma/log';
import { EMPTY_TREE, rootOf, type GrowingTree, type SignedHead } from '@stemma/merkle';
import { parseOrigin } from './heads.ts';
import { readTree } from './read-tree.ts';

export type Growth = { readonly partition: number; readonly then: number; readonly now: number };

/**
 * Reads the log and compares it with a checkpoint: each partition begins with the frames that were there then, all of them and
 * in the same order.
 *
 * @throws E_LOG_TRUNCATED, E_LOG_ALTERED, E_CHECKPOINT_MISMATCH for a checkpoint of another log, E_PARTITION_CLOSED
 */
export const verifySince = async (
  log: EventLog,
  heads: readonly SignedHead[],
  count?: (offset: number) => void,
): Promise<readonly Growth[]> => {
  for (const head of heads) {
    const origin = parseOrigin(head);
    if (origin.log !== log.id || heads.length !== log.partitions)
      throw fail(
        'E_CHECKPOINT_MISMATCH',
        `the checkpoint is of the log ${origin.log} with ${heads.length} partitions, this is ${log.id} with ${log.partitions}`,
        { log: origin.log },
      );
  }
  const grown: Growth[] = [];
  for (const [partition, { size, root }] of heads.entries()) {
    let then: GrowingTree = EMPTY_TREE;
    const now = await readTree(
      log,
      partition,
      (tree) => {
        if (tree.size === size) then = tree;
      },
      count,
    );
    if (now.size < size)
      throw fail(
        'E_LOG_TRUNCATED',
        `partition ${partition} has ${now.size} frames; the checkpoint counts ${size}: ${size - now.size} are gone`,
        { partition, then: size, now: now.size },
      );
    if (!Buffer.from(rootOf(then)).equals(root))
      throw fail(
        'E_LOG_ALTERED',
        `the first ${size} frames of partition ${partition} are not those that the checkpoint was made of`,
        { partition, then: size, now: now.size },
      );
    grown.push({ partition, then: size, now: now.size });
  }
  return grown;
};
