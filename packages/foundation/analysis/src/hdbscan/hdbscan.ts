import { fail } from '@stemma/errors';
import { neighbours } from '../distances/neighbours.ts';
import { squaredDistances } from '../distances/squared-distances.ts';
import { checkedVectors, type Vectors } from '../vectors.ts';
import { condensedTree, type CondensedTree } from './condensed-tree.ts';
import { dendrogram } from './dendrogram.ts';
import { selectGroups } from './select-groups.ts';
import { spanningTree } from './spanning-tree.ts';

export type HdbscanOptions = {
  /** A group of fewer rows is no cluster; at least 2. Default 3. */
  readonly minClusterSize?: number;
  /** The core distance of a row is that of its so many nearest rows, itself among them. Default: `minClusterSize`. */
  readonly minSamples?: number;
  /** Whether all rows together may be one cluster. Default: they may not. */
  readonly allowSingleCluster?: boolean;
};

/** The label of a row that is in no cluster. */
export const NOISE = -1;

/** For each row the number of its cluster, or {@link NOISE}. Clusters are numbered as they first appear. */
export type Clustering = { readonly labels: Int32Array; readonly clusters: number };

/**
 * Clusters of any shape and density (Campello, Moulavi and Sander, "Density-Based Clustering Based on Hierarchical Density
 * Estimates", PAKDD 2013), by Euclidean distance between the rows as they are given. The same rows as scikit-learn's HDBSCAN puts
 * together (pool §7.9); where equal heights leave open what joins first, the order of the rows decides.
 *
 * @throws E_USAGE for sizes that cannot be, E_VECTORS, E_INPUT_TOO_LARGE
 */
export const hdbscan = (vectors: Vectors, options: HdbscanOptions = {}): Clustering => {
  const { minClusterSize = 3, minSamples, allowSingleCluster = false } = options;
  const { rows } = checkedVectors(vectors);
  requireWhole(minClusterSize, 2, 'the smallest size of a cluster');
  if (minSamples !== undefined) requireWhole(minSamples, 1, 'min_samples');
  if ((minSamples ?? 1) > rows)
    throw fail('E_USAGE', `min_samples is ${minSamples ?? ''}, but there are only ${rows} vectors`);
  if (rows < minClusterSize) return { labels: new Int32Array(rows).fill(NOISE), clusters: 0 };
  const distances = squaredDistances(vectors);
  const count = minSamples ?? minClusterSize;
  const { squares } = neighbours(distances, count);
  const cores = Float64Array.from({ length: rows }, (_, i) => squares[(i + 1) * count - 1]!);
  const tree = condensedTree(dendrogram(spanningTree(distances, cores)), minClusterSize);
  return numbered(groupOfRows(tree, selectGroups(tree, allowSingleCluster)));
};

const requireWhole = (value: number, least: number, what: string): void => {
  if (!Number.isSafeInteger(value) || value < least)
    throw fail('E_USAGE', `${what} must be a whole number from ${least}, not ${value}`);
};

/** For each row the selected group that it lies in, or {@link NOISE}. */
const groupOfRows = (tree: CondensedTree, selected: readonly number[]): Int32Array => {
  const { parents, groups, exits, deaths } = tree;
  const chosen = new Set(selected);
  const covering = parents.map(() => NOISE);
  for (const [group, parent] of parents.entries())
    covering[group] = chosen.has(group) ? group : parent < 0 ? NOISE : covering[parent]!;
  return groups.map((group, row) => {
    const found = covering[group]!;
    // Of the root, only those rows belong to the cluster that stay until its end.
    return found === 0 && exits[row]! < deaths[0]! ? NOISE : found;
  });
};

const numbered = (groups: Int32Array): Clustering => {
  const numbers = new Map<number, number>();
  const labels = groups.map((group) => {
    if (group === NOISE) return NOISE;
    const number = numbers.get(group) ?? numbers.size;
    numbers.set(group, number);
    return number;
  });
  return { labels, clusters: numbers.size };
};
