import type { WideJson } from '@stemma/canonical';
import {
  contentHash,
  isoTime,
  NO_DEPTH,
  NODE_KIND,
  type FlatTree,
  type Payload,
  type PayloadSource,
} from '@stemma/context-tree';
import type { Compound, Pseudo, Selector, SelectorGroup } from '@stemma/selectors';
import { has, holds, textsIn } from './reference-compare.ts';
import { itemsOf, means, type Item, type ReferenceItems } from './reference-items.ts';

/**
 * The ids that a selector matches in a tree, by the letter of the rules and without a thought for time: every match has
 * children, what is below it is its children's children, and each compound is tried on all of that. What the evaluation
 * of packages/domain/selectors gives is compared with it.
 */
export const referenceSelect = (
  tree: FlatTree,
  { groups }: Selector,
  payloads: PayloadSource,
  appeared: (index: number) => number,
): readonly string[] => {
  const items = itemsOf(tree);
  const attributeOf = attributesOf(tree, payloads, appeared);
  const is = compoundsOf(tree, attributeOf);
  const given = new Set(groups.flatMap((group) => matchesOf(items, attributeOf, is, group)));
  return tree.ids.filter((_, at) => given.has(at));
};

type AttributeOf = (item: Item, name: string) => WideJson;

/** Reads the attributes of items, those of a tree's nodes from their headers and payloads. */
const attributesOf = (
  tree: FlatTree,
  payloads: PayloadSource,
  appeared: (index: number) => number,
): AttributeOf => {
  const payloadOf = (at: number): Payload => {
    const ref = tree.payloads[at];
    return ref == null ? {} : payloads(ref);
  };
  return (item, name) => {
    if (item.what === 'core')
      return name === 'nodeType'
        ? 'mc'
        : name === 'offset'
          ? 0
          : name === 'depth'
            ? (tree.depths[item.owner] as number)
            : null;
    if (item.what !== 'node') return null;
    const { at } = item;
    const headers = tree.headers[at] as unknown as Record<string, WideJson>;
    const depth = tree.depths[at] as number;
    if (name === 'ttl') return tree.ttls[at] ?? null;
    if (name === 'born_turn') return headers['cycle'] ?? null;
    if (name === 'created_at_iso') return isoTime(headers['created_at_ns'] as bigint);
    if (name === 'depth') return depth === NO_DEPTH ? null : depth;
    if (name === 'age') return tree.cycle - appeared(at);
    if (name === 'content_hash')
      return tree.kinds[at] === NODE_KIND.block ? contentHash(headers, payloadOf(at)) : null;
    return headers[name] ?? payloadOf(at)[name] ?? null;
  };
};

type IsCompound = (item: Item, compound: Compound) => boolean;

/** Says whether something is what a compound says, before its pseudos. */
const compoundsOf = (tree: FlatTree, attributeOf: AttributeOf): IsCompound => {
  const isType = (item: Item, { name, sub }: { name: string; sub: string | null }): boolean => {
    if (item.what === 'core') return name === 'mc' && sub === null;
    if (item.what !== 'node') return false;
    const { nodeType, kind } = tree.headers[item.at] as FlatTree['headers'][number];
    if (sub !== null) return nodeType === `${name}:${sub}` || (nodeType === name && kind === sub);
    const canonical: Readonly<Record<number, string>> = {
      [NODE_KIND.turn]: 'mt',
      [NODE_KIND.container]: 'mc',
      [NODE_KIND.block]: 'cb',
    };
    return canonical[tree.kinds[item.at] as number] === name;
  };
  const regions = { '^root': 0, '^sys': tree.sys, '^seq': tree.seq, '^ah': tree.ah };

  return (item, compound) => {
    if (compound.kind === 'any') return item.what === 'node';
    if (compound.kind === 'scope') return item.what === 'scope';
    const sign = zoneOf(compound);
    if (sign !== null) return item.what === 'zone' && item.sign === sign;
    const { root, id, type, attributes } = compound;
    if (item.what === 'zone' || item.what === 'scope') return false;
    if (item.what === 'core' && (root !== null || id !== null || type === null)) return false;
    if (item.what === 'node' && root !== null && regions[root] !== item.at) return false;
    if (item.what === 'node' && id !== null && tree.ids[item.at] !== id) return false;
    if (type !== null && !isType(item, type)) return false;
    return attributes.every((attribute) => holds(attribute, attributeOf(item, attribute.key)));
  };
};

/** The indexes of the nodes that a group of compounds matches. */
const matchesOf = (
  { node, children, below, inOrder, sideOf, depthOf }: ReferenceItems,
  attributeOf: AttributeOf,
  is: IsCompound,
  steps: SelectorGroup,
): number[] => {
  const apply = (items: readonly Item[], pseudo: Pseudo): readonly Item[] => {
    switch (pseudo.name) {
      case 'pre':
        return items.filter((item) => sideOf(item) === -1);
      case 'core':
        return items.filter((item) => sideOf(item) === 0);
      case 'post':
        return items.filter((item) => sideOf(item) === 1);
      case 'depth':
        return items.filter((item) => {
          const depth = depthOf(item);
          return depth !== null && means(pseudo.depths, depth);
        });
      case 'first':
        return items.slice(0, 1);
      case 'last':
        return items.slice(-1);
      case 'nth':
        return items.slice(pseudo.n - 1, pseudo.n);
      case 'contains':
        return items.filter((item) =>
          [item, ...below(item, null)].some((each) =>
            textsIn(attributeOf(each, 'content')).some((one) => has(one, pseudo.text)),
          ),
        );
    }
  };

  let matched: Item[] = [];
  steps.forEach(({ combinator, compound }, i) => {
    const last = i === steps.length - 1;
    const scope = compound.kind === 'scope' ? compound.depths : null;
    const root = node(0);
    const places: Item[][] =
      i === 0
        ? [[root, ...below(root, scope)]]
        : matched.map((item) => (combinator === 'child' ? children(item, scope) : below(item, scope)));
    const pseudos = compound.kind === 'node' && zoneOf(compound) === null ? compound.pseudos : [];
    const found = places.flatMap((place) => {
      const items = inOrder(place).filter((item) => is(item, compound) && !(last && item.what === 'core'));
      return pseudos.reduce<readonly Item[]>(apply, items);
    });
    matched = inOrder(found);
  });
  return matched.flatMap((item) =>
    item.what === 'node'
      ? [item.at]
      : children(item, null).flatMap((child) => (child.what === 'node' ? [child.at] : [])),
  );
};

const zoneOf = (compound: Compound): number | null => {
  if (compound.kind !== 'node' || compound.pseudos.length !== 1) return null;
  const { root, id, type, attributes } = compound;
  if (root !== null || id !== null || type !== null || attributes.length > 0) return null;
  const signs: Record<string, number> = { pre: -1, core: 0, post: 1 };
  return signs[compound.pseudos[0]?.name ?? ''] ?? null;
};
