import { compareCodePoints, compareNumbers } from '@stemma/canonical';
import type { CascadeFact, PruneFact } from './commit-fact.ts';
import { NODE_KIND } from './flat-tree.ts';
import { emptyContainers, lastOut } from './plan-expiry.ts';
import type { Policy } from './policy.ts';
import { compareDocument, headersOf, idOf, type TreeNode } from './tree-node.ts';
import type { Tree } from './tree.ts';

/**
 * Step 2 of a commit (context-tree §3.2, §10.14): while there are more blocks than the policy allows, it removes the
 * unprotected block of a sealed turn with the lowest priority, then the oldest, then by id; then removable containers
 * that became empty. Protected are the newest `keep_turns` turns, pinned nodes and their descendants, and nodes that
 * another node names; a named block loses this protection when the last node that names it is pruned.
 *
 * @param emptied containers that expiry emptied but that were held: removed if pruning removed what held them.
 */
export const planPrune = (
  tree: Tree,
  policy: Policy,
  emptied: ReadonlyMap<TreeNode, string>,
): readonly (PruneFact | CascadeFact)[] => {
  let surplus = tree.counts.blocks - policy.max_blocks;
  if (surplus <= 0) return [];
  tree.requireWhole();
  const queue = heapOf(candidates(tree, policy));
  const pruned = new Set<TreeNode>();
  const waiting = new Set<TreeNode>();
  const facts: PruneFact[] = [];
  for (let node = queue.pop(); node !== undefined && surplus > 0; node = queue.pop()) {
    if (isNamed(tree, node, pruned)) {
      waiting.add(node);
      continue;
    }
    pruned.add(node);
    facts.push({ type: 'NodePruned', id: idOf(node), rank: facts.length, rule: 'max_blocks' });
    if (--surplus === 0) break;
    for (const id of headersOf(node).refs ?? []) {
      const target = tree.get(id);
      if (target !== undefined && waiting.delete(target)) queue.push(target);
    }
  }
  const lost = new Map([...emptied, ...lastOut([...pruned].sort(compareDocument))]);
  const { facts: cascades } = emptyContainers(tree, lost, pruned, (node) => !pruned.has(node));
  return [...facts, ...cascades];
};

const isNamed = (tree: Tree, node: TreeNode, pruned: ReadonlySet<TreeNode>): boolean => {
  for (const holder of tree.lifetimes.referrers(idOf(node)))
    if (holder !== node && !pruned.has(holder)) return true;
  return false;
};

/** Blocks of sealed turns that neither the turn's age nor pins protect. */
const candidates = (tree: Tree, policy: Policy): TreeNode[] => {
  const pinned = new Set<TreeNode>();
  for (const id of policy.pins) {
    const pin = tree.get(id);
    if (pin !== undefined) pinned.add(pin);
  }
  if (pinned.has(tree.root) || pinned.has(tree.seq)) return [];
  const found: TreeNode[] = [];
  const visit = (node: TreeNode): void => {
    if (pinned.has(node)) return;
    if (node.kind === NODE_KIND.block) found.push(node);
    else for (const kid of node.kids ?? []) visit(kid);
  };
  for (const turn of tree.turns.slice(0, Math.max(0, tree.turns.length - policy.keep_turns))) visit(turn);
  return found;
};

/** The order of pruning, for `sort`. */
const comparePruning = (a: TreeNode, b: TreeNode): number => {
  const x = headersOf(a);
  const y = headersOf(b);
  return (
    x.priority - y.priority ||
    compareNumbers(x.created_at_ns, y.created_at_ns) ||
    compareCodePoints(x.id, y.id)
  );
};

type Heap = { pop(): TreeNode | undefined; push(node: TreeNode): void };

/** A binary heap: few of many nodes are taken, so sorting them all would cost more. */
const heapOf = (nodes: TreeNode[]): Heap => {
  const nodeAt = (i: number): TreeNode => nodes[i] as TreeNode;
  const swap = (i: number, k: number): void => {
    const kept = nodeAt(i);
    nodes[i] = nodeAt(k);
    nodes[k] = kept;
  };
  const sink = (from: number): void => {
    for (let i = from; ;) {
      let least = i;
      for (const kid of [2 * i + 1, 2 * i + 2])
        if (kid < nodes.length && comparePruning(nodeAt(kid), nodeAt(least)) < 0) least = kid;
      if (least === i) return;
      swap(i, least);
      i = least;
    }
  };
  for (let i = (nodes.length >> 1) - 1; i >= 0; i--) sink(i);
  return {
    pop: () => {
      const top = nodes[0];
      const last = nodes.pop();
      if (nodes.length > 0) {
        nodes[0] = last as TreeNode;
        sink(0);
      }
      return top;
    },
    push: (node) => {
      nodes.push(node);
      for (let i = nodes.length - 1; i > 0;) {
        const up = (i - 1) >> 1;
        if (comparePruning(nodeAt(i), nodeAt(up)) >= 0) return;
        swap(i, up);
        i = up;
      }
    },
  };
};
