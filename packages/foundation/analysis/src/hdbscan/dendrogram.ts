import type { SpanningTree } from './spanning-tree.ts';

/**
 * Single linkage: node `rows + i` joins `left[i]` and `right[i]` at `heights[i]`; nodes below `rows` are rows. The last node is the
 * root.
 */
export type Dendrogram = {
  readonly rows: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly heights: Float64Array;
  /** So many rows are below a node, of all nodes. */
  readonly sizes: Int32Array;
};

/** Joins from the smallest height on; of equal heights, in the order of the tree. */
export const dendrogram = ({ order, heights }: SpanningTree): Dendrogram => {
  const rows = order.length;
  const steps = Array.from({ length: rows - 1 }, (_, i) => i + 1);
  steps.sort((a, b) => heights[a]! - heights[b]! || a - b);
  const parents = Int32Array.from({ length: 2 * rows - 1 }, (_, i) => i);
  const sizes = new Int32Array(2 * rows - 1).fill(1, 0, rows);
  const [left, right] = [new Int32Array(rows - 1), new Int32Array(rows - 1)];
  const root = (row: number): number => {
    let at = row;
    while (parents[at] !== at) at = parents[at] = parents[parents[at]!]!;
    return at;
  };
  for (const [i, step] of steps.entries()) {
    const node = rows + i;
    left[i] = root(order[step - 1]!);
    right[i] = root(order[step]!);
    parents[left[i]] = parents[right[i]] = node;
    sizes[node] = sizes[left[i]]! + sizes[right[i]]!;
  }
  return { rows, left, right, heights: Float64Array.from(steps, (step) => heights[step]!), sizes };
};
