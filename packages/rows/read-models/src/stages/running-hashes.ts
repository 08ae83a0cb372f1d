import { createHash, type Hash } from 'node:crypto';
import type { HashedNode } from './hash-node.ts';
import { NODE_KINDS } from './stream-node.ts';

/*
 * `node_hash` of a stream that grows: the hash of the list of digests, ["<digest>",…], up to the last of them. A snapshot
 * copies it and adds the bracket. (z1 is a hash over it and over counts; z2 and z3 are hashes over lists of all ids, which
 * a snapshot would have to hash anew: all three are computed when somebody asks for them.)
 *
 * A hash object of the platform lives in memory and cannot be stored: it is computed again from the rows.
 */

/** The running hashes of a stream. Mutable: use {@link copyRunningHashes} where both states are still needed. */
export type RunningHashes = {
  /** Nodes of each kind, in the order of NODE_KINDS. */
  readonly kindCounts: number[];
  count: number;
  readonly digests: Hash;
};

/** A stream without nodes. */
export const emptyRunningHashes = (): RunningHashes => ({
  kindCounts: NODE_KINDS.map(() => 0),
  count: 0,
  digests: createHash('sha256').update('['),
});

export const copyRunningHashes = ({ kindCounts, count, digests }: RunningHashes): RunningHashes => ({
  kindCounts: [...kindCounts],
  count,
  digests: digests.copy(),
});

/** `node_hash` at this point, lower-case hex; more nodes can be added afterwards. */
export const nodeHashOf = ({ digests }: RunningHashes): string => digests.copy().update(']').digest('hex');

/** Adds nodes to a stream. */
export const addNodes = (
  running: RunningHashes,
  nodes: readonly Pick<HashedNode, 'digest' | 'kind'>[],
): void => {
  const { kindCounts } = running;
  let digests = '';
  for (const { digest, kind } of nodes) {
    digests += running.count === 0 ? `"${digest}"` : `,"${digest}"`;
    const index = NODE_KINDS.indexOf(kind);
    kindCounts[index] = (kindCounts[index] as number) + 1;
    running.count++;
  }
  if (digests !== '') running.digests.update(digests);
};
