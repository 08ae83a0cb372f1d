import {
  NODE_KIND,
  PayloadNeeded,
  type EventRef,
  type FlatTree,
  type PayloadSource,
} from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { Asked } from './attributes.ts';
import { compile, type Matcher } from './compile.ts';
import type { Combinator, Group, Selector } from './syntax.ts';
import { refuseUnsupported } from './unsupported.ts';

/** `skip` counts before `limit`; `limit: 0` gives nothing (context-tree §10.34). */
export type Window = { readonly limit?: number; readonly skip?: number };

/** Questions that one selector may ask of nodes; more than a second's worth is refused. */
const MAX_WORK = 15_000_000;

/**
 * The ids that a selector matches in one tree, in document order, each once. The marker says which tree to ask and is
 * not looked at here, except that `@*` and ranges, which ask several, are refused. Pure: nothing is written.
 *
 * @throws E_SELECTOR_UNSUPPORTED, E_SELECTOR_TOO_COSTLY; PayloadNeeded (all that is missing at once): fetch and call again.
 */
export const select = (
  tree: FlatTree,
  selector: Selector,
  payloads: PayloadSource,
  window: Window = {},
): readonly string[] => {
  refuseUnsupported(selector);
  const asking: Asking = { tree, payloads, work: 0 };
  const found = selector.groups.map((group) => matchGroup(group, asking));
  const indexes = found.length === 1 ? (found[0] ?? []) : inOrder(found);
  const skip = window.skip ?? 0;
  const end = window.limit === undefined ? indexes.length : skip + window.limit;
  return indexes.slice(skip, end).map((index) => tree.ids[index] as string);
};

type Asking = Asked & { work: number; cores?: readonly number[] };

/** What a compound matched: nodes in document order, and the turns (or `^ah`) whose implicit core it matched. */
type Matches = { readonly nodes: readonly number[]; readonly cores: readonly number[] };

/** A stretch of the document, [start, end). */
type Stretch = readonly [number, number];

const matchGroup = (group: Group, asking: Asking): readonly number[] => {
  let left: Matches = { nodes: [], cores: [] };
  for (const { combinator, compound } of group)
    left = step(left, combinator, compile(compound, asking), asking);
  return left.nodes;
};

const step = (left: Matches, combinator: Combinator, matcher: Matcher, asking: Asking): Matches => {
  const stretches =
    combinator === 'start' ? [[0, asking.tree.count] as const] : stretchesBelow(left, asking.tree);
  const near = combinator === 'child' ? childOf(left, asking.tree) : null;
  const nodes = filter(candidates(stretches, matcher.only), asking, matcher.cost, (index) => {
    return (near === null || near(index)) && matcher.node(index);
  });
  if (matcher.core === null) return { nodes, cores: [] };
  const owners = combinator === 'start' ? null : new Set(left.nodes);
  asking.cores ??= implicitCores(asking.tree);
  const cores = filter(asking.cores, asking, matcher.cost, (turn) => {
    if (matcher.core?.(turn) !== true || owners === null) return matcher.core?.(turn) ?? false;
    return combinator === 'child' ? owners.has(turn) : hasAncestorOrSelf(asking.tree, turn, owners);
  });
  return { nodes, cores };
};

/** Everything below the matches: the subtrees of the nodes, and the core blocks of the implicit cores. */
const stretchesBelow = (left: Matches, tree: FlatTree): readonly Stretch[] => {
  const stretches: Stretch[] = [];
  for (const index of left.nodes) stretches.push([index + 1, tree.ends[index] as number]);
  for (const turn of left.cores)
    for (const core of coreBlocks(tree, turn)) stretches.push([core, tree.ends[core] as number]);
  return stretches.sort((a, b) => a[0] - b[0]);
};

const childOf = (left: Matches, tree: FlatTree): ((index: number) => boolean) => {
  const parents = new Set(left.nodes);
  const cores = new Set(left.cores);
  return (index) => {
    const parent = tree.parents[index] as number;
    return parents.has(parent) || (cores.has(parent) && tree.headers[index]?.offset === 0);
  };
};

/** The nodes of the stretches in document order, each once. Stretches are sorted by their start and may overlap. */
const candidates = (stretches: readonly Stretch[], only: number | null | undefined): readonly number[] => {
  if (only !== undefined)
    return only !== null && stretches.some(([start, end]) => start <= only && only < end) ? [only] : [];
  const indexes: number[] = [];
  let reached = 0;
  for (const [start, end] of stretches) {
    for (let i = Math.max(start, reached); i < end; i++) indexes.push(i);
    reached = Math.max(reached, end);
  }
  return indexes;
};

/** The candidates that pass. Payloads that are missing are asked for all at once, not one by one. */
const filter = (
  indexes: readonly number[],
  asking: Asking,
  cost: number,
  passes: (index: number) => boolean,
): readonly number[] => {
  asking.work += (indexes.length + 1) * cost;
  if (asking.work > MAX_WORK)
    throw fail(
      'E_SELECTOR_TOO_COSTLY',
      `the selector asks more than ${MAX_WORK} questions of ${asking.tree.count} nodes`,
    );
  const needed: EventRef[] = [];
  const passed = indexes.filter((index) => {
    try {
      return passes(index);
    } catch (error) {
      if (!(error instanceof PayloadNeeded)) throw error;
      needed.push(...error.refs);
      return false;
    }
  });
  if (needed.length > 0) throw new PayloadNeeded(needed);
  return passed;
};

/** The turns (and `^ah`) that have blocks at offset 0 and no `mc`: each has an implicit core (context-tree §1, §10.3). */
const implicitCores = (tree: FlatTree): readonly number[] => {
  const owners: number[] = [];
  for (let turn = tree.seq + 1; turn < tree.ah; turn = tree.ends[turn] as number) owners.push(turn);
  owners.push(tree.ah);
  return owners.filter((owner) => coreBlocks(tree, owner).length > 0);
};

const coreBlocks = (tree: FlatTree, owner: number): readonly number[] => {
  const blocks: number[] = [];
  const end = tree.ends[owner] as number;
  for (let i = owner + 1; i < end; i = tree.ends[i] as number)
    if (tree.headers[i]?.offset === 0 && tree.kinds[i] === NODE_KIND.block) blocks.push(i);
  return blocks;
};

const hasAncestorOrSelf = (tree: FlatTree, index: number, among: ReadonlySet<number>): boolean => {
  for (let i = index; i !== -1; i = tree.parents[i] as number) if (among.has(i)) return true;
  return false;
};

const inOrder = (found: readonly (readonly number[])[]): readonly number[] =>
  [...new Set(found.flat())].sort((a, b) => a - b);
