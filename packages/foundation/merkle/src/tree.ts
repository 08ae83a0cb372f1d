import { sha256 } from '@stemma/canonical';

/*
 * The tree of RFC 6962 §2.1: a leaf is SHA-256(0x00 ‖ data), a node SHA-256(0x01 ‖ left ‖ right), and the left side of a tree
 * of n leaves is the largest power of two below n.
 */

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export const leafHash = (data: Uint8Array): Uint8Array => sha256(Buffer.concat([LEAF, data]));

export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  sha256(Buffer.concat([NODE, left, right]));

/** A tree of which only the roots of its full parts are kept, largest first: enough to go on, and for the root. */
export type GrowingTree = { readonly size: number; readonly parts: readonly Uint8Array[] };

export const EMPTY_TREE: GrowingTree = { size: 0, parts: [] };

/** The tree with one more leaf. */
export const withLeaf = ({ size, parts }: GrowingTree, leaf: Uint8Array): GrowingTree => {
  const kept = [...parts];
  let part = leaf;
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) part = nodeHash(kept.pop() ?? part, part);
  return { size: size + 1, parts: [...kept, part] };
};

/** The root of a tree; of an empty one, the hash of nothing. */
export const rootOf = ({ parts }: GrowingTree): Uint8Array =>
  parts.length === 0 ? sha256(new Uint8Array()) : parts.reduceRight((right, left) => nodeHash(left, right));

const rootOfLeaves = (leaves: readonly Uint8Array[]): Uint8Array =>
  rootOf(leaves.reduce(withLeaf, EMPTY_TREE));

/** The largest power of two below `size`. */
const splitOf = (size: number): number => {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
};

/** The hashes that lead from a leaf to the root (RFC 6962 §2.1.1): the nearest first. */
export const inclusionProof = (leaves: readonly Uint8Array[], index: number): Uint8Array[] => {
  if (leaves.length <= 1) return [];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...inclusionProof(left, index), rootOfLeaves(right)]
    : [...inclusionProof(right, index - split), rootOfLeaves(left)];
};

/** The hashes that show that the tree of the first `size` leaves is the beginning of this one (RFC 6962 §2.1.2). */
export const consistencyProof = (leaves: readonly Uint8Array[], size: number): Uint8Array[] =>
  size === 0 ? [] : partProof(leaves, size, true);

const partProof = (leaves: readonly Uint8Array[], size: number, whole: boolean): Uint8Array[] => {
  if (size === leaves.length) return whole ? [] : [rootOfLeaves(leaves)];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return size <= split
    ? [...partProof(left, size, whole), rootOfLeaves(right)]
    : [...partProof(right, size - split, false), rootOfLeaves(left)];
};
