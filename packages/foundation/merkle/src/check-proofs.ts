import { sha256 } from '@stemma/canonical';
import { nodeHash } from './tree.ts';

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const isOdd = (n: number): boolean => n % 2 === 1;
const half = (n: number): number => Math.floor(n / 2);

export type InclusionClaim = {
  /** The hash of the leaf, and its place. */
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
};

/** True if the hashes show that the tree with this root has this leaf at this place (RFC 9162 §2.1.3.2). */
export const provesInclusion = (
  { leaf, index, size, root }: InclusionClaim,
  hashes: readonly Uint8Array[],
): boolean => {
  if (index < 0 || index >= size) return false;
  let [at, last, hash] = [index, size - 1, leaf];
  for (const next of hashes) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      hash = nodeHash(next, hash);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else hash = nodeHash(hash, next);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && same(hash, root);
};

/** A tree by its size and root. */
export type TreeState = { readonly size: number; readonly root: Uint8Array };

/** True if the hashes show that the newer tree begins with all leaves of the older one (RFC 9162 §2.1.4.2). */
export const provesConsistency = (
  older: TreeState,
  newer: TreeState,
  hashes: readonly Uint8Array[],
): boolean => {
  if (older.size > newer.size) return false;
  if (older.size === newer.size) return hashes.length === 0 && same(older.root, newer.root);
  if (older.size === 0) return hashes.length === 0 && same(older.root, sha256(new Uint8Array()));
  let [at, last] = [older.size - 1, newer.size - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  // The older tree is a full part of the newer one: its root stands for the first hash.
  const [first, ...rest] = at === 0 ? [older.root, ...hashes] : hashes;
  if (first === undefined) return false;
  let [before, now] = [first, first];
  for (const next of rest) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      [before, now] = [nodeHash(next, before), nodeHash(next, now)];
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else now = nodeHash(now, next);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && same(before, older.root) && same(now, newer.root);
};
