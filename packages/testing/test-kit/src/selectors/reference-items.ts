import { NO_DEPTH, NODE_KIND, type FlatTree } from '@stemma/context-tree';
import type { Depths } from '@stemma/selectors';

/** What a compound can match, as the rules speak of it (context-tree §6, §10.24 to §10.28). */
export type Item =
  | { readonly what: 'node'; readonly at: number }
  | { readonly what: 'core'; readonly owner: number }
  | { readonly what: 'zone'; readonly owner: number; readonly sign: number }
  | { readonly what: 'scope'; readonly depths: Depths };

/** What lies in what, in a tree. */
export type ReferenceItems = {
  readonly node: (at: number) => Item;
  /** @param scope the depths of the scope that the compound asks for; null: it asks for none */
  readonly children: (item: Item, scope: Depths | null) => Item[];
  readonly below: (item: Item, scope: Depths | null) => Item[];
  readonly inOrder: (items: readonly Item[]) => Item[];
  /** The side of the child of a turn or the head that something is or lies in. */
  readonly sideOf: (item: Item) => number | null;
  readonly depthOf: (item: Item) => number | null;
};

export const itemsOf = (tree: FlatTree): ReferenceItems => {
  const nodes = Array.from({ length: tree.count }, (_, at) => at);
  const offset = (at: number): number => tree.headers[at]?.offset ?? 0;
  const kidsOf = (at: number): number[] => nodes.filter((each) => tree.parents[each] === at);
  const isOwner = (at: number): boolean =>
    tree.kinds[at] === NODE_KIND.turn || tree.kinds[at] === NODE_KIND.ah;
  const coreBlocks = (owner: number): number[] => kidsOf(owner).filter((each) => offset(each) === 0);
  const hasImplicitCore = (owner: number): boolean =>
    coreBlocks(owner).length > 0 && coreBlocks(owner).every((each) => tree.kinds[each] === NODE_KIND.block);
  const node = (at: number): Item => ({ what: 'node', at });
  const ownItems = (owner: number): Item[] => [
    ...[-1, 0, 1].map((sign): Item => ({ what: 'zone', owner, sign })),
    ...(hasImplicitCore(owner) ? [{ what: 'core', owner } as const] : []),
  ];

  const children = (item: Item, scope: Depths | null): Item[] => {
    switch (item.what) {
      case 'node':
        return [
          ...kidsOf(item.at).map(node),
          ...(isOwner(item.at) ? ownItems(item.at) : []),
          ...(item.at === 0 && scope !== null ? [{ what: 'scope', depths: scope } as const] : []),
        ];
      case 'core':
        return coreBlocks(item.owner).map(node);
      case 'zone':
        return [
          ...kidsOf(item.owner)
            .filter((each) => Math.sign(offset(each)) === item.sign)
            .map(node),
          ...(item.sign === 0 && hasImplicitCore(item.owner)
            ? [{ what: 'core', owner: item.owner } as const]
            : []),
        ];
      case 'scope':
        return [
          ...(means(item.depths, -1) ? kidsOf(tree.sys).map(node) : []),
          ...kidsOf(tree.seq)
            .filter((turn) => means(item.depths, tree.depths[turn] as number))
            .map(node),
          ...(means(item.depths, 0) ? [...kidsOf(tree.ah).map(node), ...ownItems(tree.ah)] : []),
        ];
    }
  };
  const below = (item: Item, scope: Depths | null): Item[] =>
    children(item, scope).flatMap((child) => [child, ...below(child, scope)]);
  const rank = (item: Item): number =>
    item.what === 'node'
      ? 2 * item.at + 1
      : item.what === 'core'
        ? 2 * (coreBlocks(item.owner)[0] as number)
        : 0;
  const key = (item: Item): string => JSON.stringify(item);
  const inOrder = (items: readonly Item[]): Item[] =>
    [...new Map(items.map((item) => [key(item), item])).values()].sort((a, b) => rank(a) - rank(b));

  const sideOf = (item: Item): number | null => {
    if (item.what === 'core') return 0;
    if (item.what !== 'node') return null;
    for (let at = item.at; tree.parents[at] !== -1; at = tree.parents[at] as number)
      if (isOwner(tree.parents[at] as number)) return Math.sign(offset(at));
    return null;
  };
  const depthOf = (item: Item): number | null => {
    const at = item.what === 'node' ? item.at : item.what === 'core' ? item.owner : 0;
    return tree.depths[at] === NO_DEPTH ? null : (tree.depths[at] as number);
  };
  return { node, children, below, inOrder, sideOf, depthOf };
};

export const means = (depths: Depths, depth: number): boolean => {
  if (depths.kind === 'list') return depths.values.includes(depth);
  if (depths.kind === 'span') return depths.from <= depth && depth <= depths.to;
  const { op, value } = depths;
  return op === '<'
    ? depth < value
    : op === '<='
      ? depth <= value
      : op === '>'
        ? depth > value
        : depth >= value;
};
