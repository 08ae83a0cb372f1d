import { compareCodePoints } from '@stemma/canonical';
import type { CascadeFact, ExpiryFact, HoldFact } from './commit-fact.ts';
import {
  compareDocument,
  eachInSubtree,
  expiresOf,
  headersOf,
  idOf,
  isFixed,
  type TreeNode,
} from './tree-node.ts';
import type { Tree } from './tree.ts';

/** The result of expiry: the facts, and the removable containers that it emptied but that are held. */
export type ExpiryPlan = {
  readonly facts: readonly (ExpiryFact | CascadeFact | HoldFact)[];
  /** Each with the id of its last removed child. */
  readonly emptiedButHeld: ReadonlyMap<TreeNode, string>;
};

/**
 * Step 1 of a commit (context-tree §3.1, §10.11–§10.13): due nodes expire with their descendants, unless a reference
 * from a node that stays holds them; then removable containers that became empty, upwards.
 */
export const planExpiry = (tree: Tree): ExpiryPlan => {
  const due = new Set<TreeNode>([...tree.lifetimes.dueAt(tree.open), ...tree.lifetimes.held]);
  if (due.size === 0) return { facts: [], emptiedButHeld: new Map() };
  const doomed = new Set<TreeNode>();
  for (const node of due) eachInSubtree(node, (each) => doomed.add(each));
  const { saved, holders } = holdLeast(tree, due, doomed);

  const going = [...doomed].filter((node) => !saved.has(node)).sort(compareDocument);
  const gone = new Set(going);
  const held = [...holders.keys()].filter((node) => expiresOf(node) !== null).sort(compareDocument);
  const emptied = emptyContainers(tree, lastOut(going), gone, (node) => !gone.has(node));
  return {
    facts: [
      ...held.map((node): HoldFact => ({
        type: 'NodeHeld',
        id: idOf(node),
        by: idOf(holders.get(node) as TreeNode),
      })),
      ...going.map((node): ExpiryFact | CascadeFact =>
        due.has(node)
          ? { type: 'NodeExpired', id: idOf(node) }
          : { type: 'NodeCascaded', id: idOf(node), why: 'contained', by: idOf(expiredAround(node, due)) },
      ),
      ...emptied.facts,
    ],
    emptiedButHeld: emptied.held,
  };
};

const expiredAround = (node: TreeNode, due: ReadonlySet<TreeNode>): TreeNode => {
  let at = node.parent as TreeNode;
  while (!due.has(at)) at = at.parent as TreeNode;
  return at;
};

/**
 * The smallest set of held nodes, starting from nodes that neither are due nor are in a due container (context-tree
 * §10.12). Computed in rounds, so that the named holder of each (the smallest id of its round) does not depend on the
 * order of insertion.
 */
const holdLeast = (
  tree: Tree,
  due: ReadonlySet<TreeNode>,
  doomed: ReadonlySet<TreeNode>,
): { readonly saved: ReadonlySet<TreeNode>; readonly holders: ReadonlyMap<TreeNode, TreeNode> } => {
  const saved = new Set<TreeNode>();
  const holders = new Map<TreeNode, TreeNode>();
  let pairs: [target: TreeNode, holder: TreeNode][] = [];
  for (const target of doomed)
    for (const holder of tree.lifetimes.referrers(idOf(target)))
      if (!doomed.has(holder)) pairs.push([target, holder]);

  while (pairs.length > 0) {
    const round = new Map<TreeNode, TreeNode>();
    for (const [target, holder] of pairs)
      for (let at: TreeNode | null = target; at !== null && !isFixed(at); at = at.parent) {
        if (!due.has(at) || holders.has(at)) continue;
        const other = round.get(at);
        if (other === undefined || compareCodePoints(idOf(holder), idOf(other)) < 0) round.set(at, holder);
      }
    for (const [node, holder] of round) holders.set(node, holder);
    const fresh = saveRound(round, due, doomed, holders, saved);
    pairs = fresh.flatMap((holder) =>
      heldBy(tree, holder, doomed, saved).map((target): [TreeNode, TreeNode] => [target, holder]),
    );
  }
  return { saved, holders };
};

/** Keeps the nodes held in this round with their descendants, except descendants that are due and not held. */
const saveRound = (
  round: ReadonlyMap<TreeNode, TreeNode>,
  due: ReadonlySet<TreeNode>,
  doomed: ReadonlySet<TreeNode>,
  holders: ReadonlyMap<TreeNode, TreeNode>,
  saved: Set<TreeNode>,
): TreeNode[] => {
  const fresh: TreeNode[] = [];
  const save = (node: TreeNode): void => {
    if (saved.has(node)) return;
    saved.add(node);
    fresh.push(node);
    for (const kid of node.kids ?? []) if (!due.has(kid) || holders.has(kid)) save(kid);
  };
  for (const node of round.keys()) {
    const parent = node.parent as TreeNode;
    if (!doomed.has(parent) || saved.has(parent)) save(node);
  }
  return fresh;
};

const heldBy = (
  tree: Tree,
  holder: TreeNode,
  doomed: ReadonlySet<TreeNode>,
  saved: ReadonlySet<TreeNode>,
): TreeNode[] =>
  (headersOf(holder).refs ?? [])
    .map((id) => tree.getLoaded(id))
    .filter(
      (target) => target !== undefined && target !== holder && doomed.has(target) && !saved.has(target),
    ) as TreeNode[];

/**
 * The removable containers that have lost their last child, upwards (context-tree §10.13), unless a node for which
 * `stays` is true names them: those stay too.
 */
export const emptyContainers = (
  tree: Tree,
  lost: ReadonlyMap<TreeNode, string>,
  gone: ReadonlySet<TreeNode>,
  stays: (node: TreeNode) => boolean,
): { readonly facts: readonly CascadeFact[]; readonly held: ReadonlyMap<TreeNode, string> } => {
  const facts: CascadeFact[] = [];
  const held = new Map<TreeNode, string>();
  const cascaded = new Set<TreeNode>();
  const isEmpty = (node: TreeNode): boolean =>
    (node.kids ?? []).every((kid) => gone.has(kid) || cascaded.has(kid));
  const lose = (node: TreeNode, last: string): void => {
    if (isFixed(node) || gone.has(node) || headersOf(node).removable !== true || !isEmpty(node)) return;
    if ([...tree.lifetimes.referrers(idOf(node))].some((holder) => holder !== node && stays(holder))) {
      held.set(node, last);
      return;
    }
    cascaded.add(node);
    facts.push({ type: 'NodeCascaded', id: idOf(node), why: 'emptied', by: last });
    lose(node.parent as TreeNode, idOf(node));
  };
  for (const node of [...lost.keys()].sort(compareDocument))
    if (!cascaded.has(node)) lose(node, lost.get(node) as string);
  return { facts, held };
};

/** The containers that lose nodes, each with the last of these in document order. */
export const lastOut = (going: readonly TreeNode[]): Map<TreeNode, string> =>
  new Map(going.map((node) => [node.parent as TreeNode, idOf(node)]));
