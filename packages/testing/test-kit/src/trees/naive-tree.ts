import { compareCodePoints, type WideJson } from '@stemma/canonical';

/**
 * A second implementation of the rules of the context tree, as naive as can be: one JSON tree whose `ttl`s count down,
 * copied whole for every position, everything computed anew. It shares no code with the first but canonical bytes.
 */
export type NaiveNode = {
  attributes: Record<string, WideJson>;
  children: NaiveNode[];
  /** Entered after the last snapshot: does not age at the next. */
  fresh: boolean;
};

export type NaiveState = {
  cycle: number;
  root: NaiveNode;
  newest: bigint;
  nextIndex: number;
  policy: { max_blocks: number; keep_turns: number; pins: readonly string[] } | null;
};

export type CommitReport = { expired: string[]; cascaded: string[]; pruned: string[]; sealed: string | null };

const idOf = (node: NaiveNode): string => node.attributes['id'] as string;
export const typeOf = (node: NaiveNode): string => node.attributes['nodeType'] as string;
export const isBlock = (node: NaiveNode): boolean =>
  !/^(\^|mt|mc)/.test(typeOf(node).split(':')[0] as string) || typeOf(node).startsWith('cb');

export const copyState = (state: NaiveState): NaiveState => structuredClone(state);

const region = (state: NaiveState, type: string): NaiveNode =>
  state.root.children.find((node) => typeOf(node) === type) as NaiveNode;

type Seen = { readonly node: NaiveNode; readonly path: readonly NaiveNode[] };

/** Every node with its ancestors from the root down, itself last. */
export const all = (node: NaiveNode, above: readonly NaiveNode[] = []): Seen[] => {
  const path = [...above, node];
  return [{ node, path }, ...node.children.flatMap((child) => all(child, path))];
};

const find = (state: NaiveState, id: string): Seen | undefined =>
  all(state.root).find(({ node }) => idOf(node) === id);

export const startNaive = (ids: { root: string; sys: string; seq: string; ah: string }): NaiveState => {
  const fixed = (id: string, nodeType: string, creation_index: number): NaiveNode => ({
    attributes: {
      id,
      nodeType,
      offset: 0,
      ttl: null,
      priority: 0,
      cycle: 0,
      created_at_ns: 0n,
      creation_index,
    },
    children: [],
    fresh: false,
  });
  const root = fixed(ids.root, '^root', 0);
  root.children = [fixed(ids.sys, '^sys', 0), fixed(ids.seq, '^seq', 1), fixed(ids.ah, '^ah', 2)];
  return { cycle: 0, root, newest: 0n, nextIndex: 0, policy: null };
};

type Given = { readonly [name: string]: WideJson };

export const insertNaive = (state: NaiveState, parent: string, given: Given, clock: bigint): void => {
  const time = clock > state.newest ? clock : state.newest + 1n;
  const build = (value: Given): NaiveNode => {
    const { children = [], ...attributes } = value;
    const node: NaiveNode = {
      attributes: {
        offset: 0,
        ttl: null,
        priority: 0,
        ...attributes,
        cycle: state.cycle + 1,
        created_at_ns: time,
        creation_index: state.nextIndex++,
      },
      children: [],
      fresh: true,
    };
    node.children = (children as Given[]).map(build);
    return node;
  };
  find(state, parent)?.node.children.push(build(given));
  state.newest = time;
};

export const replaceNaive = (state: NaiveState, id: string, set: Given): void => {
  Object.assign((find(state, id) as Seen).node.attributes, set);
};

const take = (state: NaiveState, id: string): NaiveNode => {
  const { node, path } = find(state, id) as Seen;
  const parent = path.at(-2) as NaiveNode;
  parent.children = parent.children.filter((child) => child !== node);
  return node;
};

export const removeNaive = (state: NaiveState, id: string): void => void take(state, id);

export const moveNaive = (state: NaiveState, id: string, parent: string): void => {
  const node = take(state, id);
  for (const each of all(node)) each.node.fresh = true;
  (find(state, parent) as Seen).node.children.push(node);
};

export const prioritiesNaive = (state: NaiveState, id: string, priority: number): void => {
  (find(state, id) as Seen).node.attributes['priority'] = priority;
};

const refsOf = (node: NaiveNode): readonly string[] =>
  (node.attributes['refs'] as readonly string[] | undefined) ?? [];

/** Least fixed point, from scratch in every round. */
const heldAt = (state: NaiveState): Set<string> => {
  const due = (node: NaiveNode): boolean => node.attributes['ttl'] === 0 && !typeOf(node).startsWith('^');
  const held = new Set<string>();
  for (;;) {
    const before = held.size;
    const staying = all(state.root).filter(({ path }) =>
      path.every((each) => !due(each) || held.has(idOf(each))),
    );
    for (const { node } of staying)
      for (const ref of refsOf(node)) {
        const target = find(state, ref);
        if (target === undefined || target.node === node) continue;
        for (const each of target.path) if (due(each)) held.add(idOf(each));
      }
    if (held.size === before) return held;
  }
};

const dropEmptied = (state: NaiveState, hadChildren: ReadonlySet<string>): string[] => {
  const named = new Set<string>();
  for (const { node } of all(state.root))
    for (const ref of refsOf(node)) if (ref !== idOf(node)) named.add(ref);
  const dropped: string[] = [];
  for (;;) {
    const empty = all(state.root).find(
      ({ node }) =>
        node.attributes['removable'] === true &&
        node.children.length === 0 &&
        hadChildren.has(idOf(node)) &&
        !named.has(idOf(node)) &&
        !typeOf(node).startsWith('^'),
    );
    if (empty === undefined) return dropped;
    dropped.push(idOf(empty.node));
    take(state, idOf(empty.node));
  }
};

export const commitNaive = (state: NaiveState, turnId: string, clock: bigint): CommitReport => {
  const report: CommitReport = { expired: [], cascaded: [], pruned: [], sealed: null };
  const hadChildren = new Set(
    all(state.root)
      .filter(({ node }) => node.children.length > 0)
      .map(({ node }) => idOf(node)),
  );
  const held = heldAt(state);
  const goes = (node: NaiveNode): boolean =>
    node.attributes['ttl'] === 0 && !held.has(idOf(node)) && !typeOf(node).startsWith('^');
  for (const { node, path } of all(sorted(state.root)))
    if (goes(node)) report.expired.push(idOf(node));
    else if (path.some(goes)) report.cascaded.push(idOf(node));
  for (const id of [...report.expired, ...report.cascaded])
    if (find(state, id) !== undefined) take(state, id);
  report.cascaded.push(...dropEmptied(state, hadChildren));
  pruneNaive(state, report);
  if (state.policy !== null && report.pruned.length > 0)
    report.cascaded.push(...dropEmptied(state, hadChildren));
  const seq = region(state, '^seq');
  for (const { node } of seq.children.flatMap((turn) => all(turn)))
    if (!node.fresh && typeof node.attributes['ttl'] === 'number' && node.attributes['ttl'] > 0)
      node.attributes['ttl'] -= 1;
  state.cycle += 1;
  const head = region(state, '^ah');
  if (head.children.length > 0) {
    const time = clock > state.newest ? clock : state.newest + 1n;
    const attributes = {
      id: turnId,
      nodeType: 'mt',
      offset: 0,
      ttl: null,
      priority: 0,
      cycle: state.cycle,
      created_at_ns: time,
      creation_index: state.nextIndex,
    };
    seq.children.push({ attributes, children: head.children, fresh: false });
    head.children = [];
    state.newest = time;
    report.sealed = turnId;
  }
  state.nextIndex = 0;
  for (const { node } of all(state.root)) node.fresh = false;
  return report;
};

const pruneNaive = (state: NaiveState, report: CommitReport): void => {
  const { policy } = state;
  if (policy === null) return;
  for (;;) {
    const everything = all(state.root);
    if (everything.filter(({ node }) => isBlock(node)).length <= policy.max_blocks) return;
    const turns = sorted(region(state, '^seq')).children;
    const young = new Set(policy.keep_turns === 0 ? [] : turns.slice(-policy.keep_turns).map(idOf));
    const safe = ({ node, path }: Seen): boolean =>
      path.some((each) => young.has(idOf(each)) || policy.pins.includes(idOf(each))) ||
      everything.some((other) => other.node !== node && refsOf(other.node).includes(idOf(node)));
    const found = everything
      .filter(({ node, path }) => isBlock(node) && path.some((each) => typeOf(each) === '^seq'))
      .filter((seen) => !safe(seen))
      .map(({ node }) => node.attributes)
      .sort(
        (a, b) =>
          (a['priority'] as number) - (b['priority'] as number) ||
          Number((a['created_at_ns'] as bigint) - (b['created_at_ns'] as bigint)) ||
          compareCodePoints(a['id'] as string, b['id'] as string),
      )[0];
    if (found === undefined) return;
    report.pruned.push(found['id'] as string);
    take(state, found['id'] as string);
  }
};

/** The tree with children in canonical order. */
export const sorted = (node: NaiveNode): NaiveNode => {
  const children = node.children.map(sorted);
  if (typeOf(node) !== '^root')
    children.sort(
      (a, b) =>
        (a.attributes['offset'] as number) - (b.attributes['offset'] as number) ||
        Number((a.attributes['created_at_ns'] as bigint) - (b.attributes['created_at_ns'] as bigint)) ||
        (a.attributes['creation_index'] as number) - (b.attributes['creation_index'] as number) ||
        compareCodePoints(idOf(a), idOf(b)),
    );
  return { ...node, children };
};
