import { expiresOf, isHeld, type TreeNode } from './tree-node.ts';

/**
 * Finds the nodes that a commit may have to examine: nodes by the cycle that removes them, held nodes, and nodes by the
 * ids in their `refs`.
 */
export class LifetimeIndex {
  readonly #byCycle = new Map<number, Set<TreeNode>>();
  readonly #held = new Set<TreeNode>();
  readonly #referrers = new Map<string, Set<TreeNode>>();

  enter(node: TreeNode): void {
    const expires = expiresOf(node);
    if (expires !== null) addTo(this.#byCycle, expires, node);
    else if (isHeld(node)) this.#held.add(node);
    const { refs } = node.record.headers;
    if (refs !== undefined && refs !== null) for (const id of refs) addTo(this.#referrers, id, node);
  }

  leave(node: TreeNode): void {
    const expires = expiresOf(node);
    if (expires !== null) takeFrom(this.#byCycle, expires, node);
    else if (isHeld(node)) this.#held.delete(node);
    const { refs } = node.record.headers;
    if (refs !== undefined && refs !== null) for (const id of refs) takeFrom(this.#referrers, id, node);
  }

  /** Nodes that the commit of `cycle` removes unless they are held; in no meaningful order. */
  dueAt(cycle: number): Iterable<TreeNode> {
    return this.#byCycle.get(cycle) ?? [];
  }

  /** Nodes that only a reference keeps: due at every commit. */
  get held(): ReadonlySet<TreeNode> {
    return this.#held;
  }

  /** Nodes with `id` in their `refs`, the node itself included. */
  referrers(id: string): Iterable<TreeNode> {
    return this.#referrers.get(id) ?? [];
  }

  anyDueAt(cycle: number): boolean {
    return this.#byCycle.has(cycle);
  }
}

const addTo = <Key>(sets: Map<Key, Set<TreeNode>>, key: Key, node: TreeNode): void => {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([node]));
  else set.add(node);
};

const takeFrom = <Key>(sets: Map<Key, Set<TreeNode>>, key: Key, node: TreeNode): void => {
  const set = sets.get(key);
  if (set === undefined) return;
  set.delete(node);
  if (set.size === 0) sets.delete(key);
};
