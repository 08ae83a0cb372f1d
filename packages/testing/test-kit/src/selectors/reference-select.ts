import { canonicalJson, compareCodePoints, type WideJson } from '@stemma/canonical';
import {
  contentHash,
  isoTime,
  NO_DEPTH,
  NODE_KIND,
  type FlatTree,
  type Payload,
  type PayloadSource,
} from '@stemma/context-tree';
import type {
  Attribute,
  Compound,
  Depths,
  Pseudo,
  Selector,
  SelectorGroup,
  SelectorValue,
} from '@stemma/selectors';

/** What a compound can match, as the rules speak of it (context-tree §6, §10.24 to §10.28). */
type Item =
  | { readonly what: 'node'; readonly at: number }
  | { readonly what: 'core'; readonly owner: number }
  | { readonly what: 'zone'; readonly owner: number; readonly sign: number }
  | { readonly what: 'scope'; readonly depths: Depths };

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
  const ask = reference(tree, payloads, appeared);
  const given = new Set(groups.flatMap((group) => ask.group(group)));
  return tree.ids.filter((_, at) => given.has(at));
};

const reference = (tree: FlatTree, payloads: PayloadSource, appeared: (index: number) => number) => {
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

  const payloadOf = (at: number): Payload => {
    const ref = tree.payloads[at];
    return ref == null ? {} : payloads(ref);
  };
  const attributeOf = (item: Item, name: string): WideJson => {
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

  /** The side of the child of a turn or the head that something is or lies in. */
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

  /** Whether something is what a compound says, before its pseudos. */
  const is = (item: Item, compound: Compound): boolean => {
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

  const group = (steps: SelectorGroup): number[] => {
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
  return { group };
};

const zoneOf = (compound: Compound): number | null => {
  if (compound.kind !== 'node' || compound.pseudos.length !== 1) return null;
  const { root, id, type, attributes } = compound;
  if (root !== null || id !== null || type !== null || attributes.length > 0) return null;
  const signs: Record<string, number> = { pre: -1, core: 0, post: 1 };
  return signs[compound.pseudos[0]?.name ?? ''] ?? null;
};

const means = (depths: Depths, depth: number): boolean => {
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

const HEADERS = new Set([
  'id', 'nodeType', 'offset', 'ttl', 'priority', 'cycle', 'born_turn', 'created_at_ns', 'created_at_iso', 'creation_index',
  'role', 'kind', 'key', 'removable', 'refs', 'provenance', 'depth', 'age', 'content_hash',
]); // prettier-ignore

const holds = ({ key, op, value }: Attribute, actual: WideJson): boolean => {
  if (op === null) return actual !== null;
  if (op === '=') return equal(actual, value);
  if (op === '!=') return !equal(actual, value);
  if (op === '*=') return textsIn(actual).some((one) => has(one, String(value)));
  const order = orderOf(actual, value, HEADERS.has(key));
  if (order === null) return false;
  return op === '<' ? order < 0 : op === '<=' ? order <= 0 : op === '>' ? order > 0 : order >= 0;
};

const has = (text: string, part: string): boolean => part !== '' && text.split(part).length > 1;

const textsIn = (value: WideJson): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : value !== null && typeof value === 'object'
      ? Object.values(value as object).flatMap((each) => textsIn(each as WideJson))
      : [];

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const equal = (a: WideJson, b: SelectorValue): boolean => {
  if (a === null || b === null) return a === b;
  if (typeof a === 'object') return false;
  if (isNumber(a) || isNumber(b)) return isNumber(a) && isNumber(b) && !(a < b) && !(a > b);
  return String(a) === String(b);
};

const orderOf = (a: WideJson, b: SelectorValue, header: boolean): number | null => {
  if (a === null || b === null || typeof a === 'object') return null;
  const [x, y] = header ? [isNumber(a) ? a : null, isNumber(b) ? b : null] : [jsonNumber(a), jsonNumber(b)];
  if (x !== null && y !== null) return x < y ? -1 : x > y ? 1 : 0;
  if (header && (x !== null || y !== null)) return null;
  const text = (value: Exclude<WideJson, object>): string =>
    isNumber(value) ? canonicalJson(value) : String(value);
  return compareCodePoints(text(a), text(b));
};

const jsonNumber = (value: WideJson): number | bigint | null => {
  if (isNumber(value)) return value;
  if (typeof value !== 'string' || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return null;
  return /^-?\d+$/.test(value) ? BigInt(value) : Number(value);
};
