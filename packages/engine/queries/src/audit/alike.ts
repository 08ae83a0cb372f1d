import { contentHash, NODE_KIND, type Headers } from '@stemma/context-tree';
import type { TreeView } from '@stemma/history-store';
import type { ComparedSide, Comparison } from './types.ts';

/**
 * Nodes inserted on both sides, in pairs of one from each, in the document order of A: messages that say the same, other blocks
 * of the same content, and the containers of these.
 */
export const nodesAlike = (
  a: TreeView,
  sideA: ComparedSide,
  b: TreeView,
  sideB: ComparedSide,
  pairs: readonly (readonly [string, string])[],
): Comparison['alike'] => {
  const [addedA, addedB] = [
    new Set(sideA.added.map(({ id }) => id)),
    new Set(sideB.added.map(({ id }) => id)),
  ];
  const found = new Map<string, string>();
  const taken = new Set<string>();
  const pair = (one: string, other: string): void => {
    if (found.has(one) || taken.has(other) || !addedA.has(one) || !addedB.has(other)) return;
    found.set(one, other);
    taken.add(other);
  };
  for (const [one, other] of pairs) pair(one, other);
  const unpaired = new Map<string, string[]>();
  for (const [id, hash] of contentHashes(b, sideB))
    if (!taken.has(id)) unpaired.set(hash, [...(unpaired.get(hash) ?? []), id]);
  for (const [id, hash] of contentHashes(a, sideA)) {
    const other = found.has(id) ? undefined : unpaired.get(hash)?.shift();
    if (other !== undefined) pair(id, other);
  }
  for (const [one, other] of [...found]) {
    let [x, y] = [parentOf(a, one), parentOf(b, other)];
    for (; x !== undefined && y !== undefined; [x, y] = [parentOf(a, x), parentOf(b, y)]) pair(x, y);
  }
  return sideA.added.flatMap(({ id }) => {
    const other = found.get(id);
    return other === undefined ? [] : [{ a: id, b: other }];
  });
};

const parentOf = ({ tree }: TreeView, id: string): string | undefined =>
  tree.ids[tree.parents[tree.indexOf(id) ?? 0] ?? -1];

const contentHashes = function* (
  { tree, payloads }: TreeView,
  { added }: ComparedSide,
): Iterable<[string, string]> {
  for (const { id } of added) {
    const index = tree.indexOf(id) ?? 0;
    const ref = tree.payloads[index] ?? null;
    if (tree.kinds[index] === NODE_KIND.block && ref !== null)
      yield [id, contentHash(tree.headers[index] as Headers, payloads(ref))];
  }
};
