import type { Dendrogram } from './dendrogram.ts';

/**
 * The groups of at least the smallest size that a dendrogram splits into, seen from the root: a split into two such groups starts
 * both, and from one that is smaller its rows fall out. λ = 1 / height. Group 0 is the root; a parent has a lower number
 * than its children.
 */
export type CondensedTree = {
  readonly parents: readonly number[];
  /** The λ at which each group starts. */
  readonly births: readonly number[];
  /** The sum over what leaves a group of (λ − birth): its excess of mass. */
  readonly stabilities: readonly number[];
  /** The largest λ at which something leaves the group. */
  readonly deaths: readonly number[];
  /** For each row the group that it falls out of, and the λ. */
  readonly groups: Int32Array;
  readonly exits: Float64Array;
};

/** @param minClusterSize a group of fewer rows is none; at least 2, so that every group is a node that joins two */
export const condensedTree = (tree: Dendrogram, minClusterSize: number): CondensedTree => {
  const { rows, left, right, heights, sizes } = tree;
  const parents = [-1];
  const births = [0];
  const stabilities = [0];
  const deaths = [0];
  const groups = new Int32Array(rows);
  const exits = new Float64Array(rows);
  const leave = (group: number, lambda: number, size: number): void => {
    // Of equal rows the height is 0 and λ infinite: what starts and ends there has no mass.
    if (lambda !== births[group]) stabilities[group]! += (lambda - births[group]!) * size;
    deaths[group] = Math.max(deaths[group]!, lambda);
  };
  const fallOut = (node: number, group: number, lambda: number): void => {
    leave(group, lambda, sizes[node]!);
    for (const row of rowsBelow(tree, node)) {
      groups[row] = group;
      exits[row] = lambda;
    }
  };
  const open: [node: number, group: number][] = [[2 * rows - 2, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, group] = next;
    const height = heights[node - rows]!;
    const lambda = height > 0 ? 1 / height : Number.POSITIVE_INFINITY;
    const children = [left[node - rows]!, right[node - rows]!];
    const large = children.filter((child) => sizes[child]! >= minClusterSize);
    for (const child of children) {
      if (!large.includes(child)) fallOut(child, group, lambda);
      else if (large.length === 1) open.push([child, group]);
      else {
        leave(group, lambda, sizes[child]!);
        open.push([child, parents.length]);
        parents.push(group);
        births.push(lambda);
        stabilities.push(0);
        deaths.push(lambda);
      }
    }
  }
  return { parents, births, stabilities, deaths, groups, exits };
};

function* rowsBelow({ rows, left, right }: Dendrogram, node: number): Iterable<number> {
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next < rows) yield next;
    else open.push(left[next - rows]!, right[next - rows]!);
  }
}
