import { canonicalJson, pack, sha256, type Packable } from '@stemma/canonical';
import { hash } from 'node:crypto';
import { NODE_KIND, type FlatTree } from './flat-tree.ts';
import { hashedTtl } from './lifetime.ts';
import { addToSum, element, emptySum } from './lt-hash.ts';
import type { Headers, Payload, PayloadSource } from './node.ts';
import type { ThreadMode } from './policy.ts';
import { hashedHeaders, nodeDigest, type Digested } from './preimage.ts';
import { sliceText, threadIndexes } from './thread.ts';
import type { Hashes } from './tree.ts';

/**
 * Tree hash and thread hash of a tree, computed from scratch (snapshots: tree hash and thread hash). @throws Missing
 * (payloads)
 */
export const hashFlat = (tree: FlatTree, source: PayloadSource, mode: ThreadMode = 'full'): Hashes => ({
  treeHash: treeHashOf(tree, source),
  threadHash: threadHashOf(tree, source, mode),
});

const treeHashOf = (tree: FlatTree, source: PayloadSource): Uint8Array => {
  const sum = emptySum();
  for (const [region, name] of [
    [tree.sys, '^sys'],
    [tree.seq, '^seq'],
    [tree.ah, '^ah'],
  ] as const)
    for (let i = region + 1; i < (tree.ends[region] as number); i = tree.ends[i] as number) {
      const digest = digestAt(tree, i, source);
      addToSum(sum, element(name, digest), 1);
    }
  const headers = [0, tree.sys, tree.seq, tree.ah].map((i): Packable =>
    hashedHeaders(digestedAt(tree, i, source)),
  );
  return sha256(pack([1, tree.cycle, headers, sum]));
};

const digestAt = (tree: FlatTree, index: number, source: PayloadSource): string => {
  const kids: string[] = [];
  for (let i = index + 1; i < (tree.ends[index] as number); i = tree.ends[i] as number)
    kids.push(digestAt(tree, i, source));
  return nodeDigest(digestedAt(tree, index, source), kids);
};

const digestedAt = (tree: FlatTree, index: number, source: PayloadSource): Digested => {
  const ref = tree.payloads[index] ?? null;
  const { content, ...extras }: Payload = ref === null ? {} : source(ref);
  const frozen = index < tree.seq || (tree.kinds[index] as number) < NODE_KIND.turn;
  return {
    headers: tree.headers[index] as Headers,
    ttl: hashedTtl(tree.ttls[index] ?? null, tree.cycle, frozen),
    content: content === undefined ? null : hash('sha256', canonicalJson(content), 'binary'),
    extras: Object.keys(extras).length === 0 ? null : extras,
  };
};

const threadHashOf = (tree: FlatTree, source: PayloadSource, mode: ThreadMode): Uint8Array => {
  const shown = threadIndexes(tree, mode);
  let next = 0;
  /** The slice of what is shown before a node, after the slices that were taken before. */
  const sliceUntil = (end: number): Buffer => {
    const first = next;
    while (next < shown.length && (shown[next] as number) < end) next++;
    return Buffer.from(sha256(sliceText(tree, shown.slice(first, next), source)));
  };
  const slices = [sliceUntil(tree.seq)];
  if (mode === 'pre') return sha256(Buffer.concat([...slices, sliceUntil(tree.ah)]));
  for (let i = tree.seq + 1; i < tree.ah; i = tree.ends[i] as number)
    slices.push(sliceUntil(tree.ends[i] as number));
  slices.push(sliceUntil(tree.count));
  return sha256(Buffer.concat(slices));
};
