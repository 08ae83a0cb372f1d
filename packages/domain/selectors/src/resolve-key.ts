import { compareCodePoints, compareNumbers } from '@stemma/canonical';
import type { FlatTree } from '@stemma/context-tree';

/**
 * The ids of the nodes that have a key, the best match first: the deepest, then the newest by `created_at_ns` and
 * `creation_index`, then by id (context-tree §6: resolve). Only this function uses this order. Root and regions, which
 * have no depth, come last.
 */
export const resolveKey = (tree: FlatTree, key: string): readonly string[] => {
  const bearers: number[] = [];
  for (let i = 0; i < tree.count; i++) if (tree.headers[i]?.key === key) bearers.push(i);
  const headers = (i: number): FlatTree['headers'][number] => tree.headers[i] as FlatTree['headers'][number];
  return bearers
    .sort(
      (a, b) =>
        (tree.depths[b] as number) - (tree.depths[a] as number) ||
        compareNumbers(headers(b).created_at_ns, headers(a).created_at_ns) ||
        headers(b).creation_index - headers(a).creation_index ||
        compareCodePoints(headers(a).id, headers(b).id),
    )
    .map((i) => tree.ids[i] as string);
};
