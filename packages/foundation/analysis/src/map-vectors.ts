import { fail } from '@stemma/errors';
import { UMAP } from 'umap-js';
import { neighbours } from './distances/neighbours.ts';
import { squaredDistances } from './distances/squared-distances.ts';
import { principalComponents } from './principal-components.ts';
import { seededRandom, type Random } from './random.ts';
import { checkedVectors, type Vectors } from './vectors.ts';

export type MapOptions = {
  /** Default 0. */
  readonly seed?: number;
  /** So many nearest rows are kept near, the row itself among them. Default 15, and fewer where there are fewer rows. */
  readonly neighbours?: number;
  /** How near two points may be on the map. Default 0.1. */
  readonly minDistance?: number;
};

/**
 * Two coordinates for each row, so that rows that are near each other are so on the map: UMAP (McInnes, Healy and Melville 2018), with exact
 * neighbours by Euclidean distance. The same rows, options and seed give the same coordinates. What is far on the map need not be far,
 * and the size of a cloud means nothing.
 *
 * @throws E_VECTORS, E_USAGE for options that cannot be, E_INPUT_TOO_LARGE
 */
export const mapVectors = (
  vectors: Vectors,
  options: MapOptions = {},
): readonly (readonly [x: number, y: number])[] => {
  const { rows } = checkedVectors(vectors);
  const { seed = 0, neighbours: wanted = 15, minDistance = 0.1 } = options;
  if (!Number.isSafeInteger(wanted) || wanted < 2)
    throw fail('E_USAGE', `the number of neighbours must be a whole number from 2, not ${wanted}`);
  if (!(minDistance >= 0 && minDistance <= 1))
    throw fail('E_USAGE', `the smallest distance on the map must lie from 0 to 1, not ${minDistance}`);
  const random = seededRandom(seed);
  if (rows < 3) return Array.from({ length: rows }, (_, i) => [i, 0] as const);
  const count = Math.min(wanted, rows - 1);
  const { items, squares } = neighbours(squaredDistances(vectors), count);
  const lists = Array.from({ length: rows }, (_, i) => [i * count, (i + 1) * count] as const);
  const umap = new UMAP({ nNeighbors: count, minDist: minDistance, random: random.unit });
  umap.setPrecomputedKNN(
    lists.map(([from, to]) => Array.from(items.subarray(from, to))),
    lists.map(([from, to]) => Array.from(squares.subarray(from, to), Math.sqrt)),
  );
  // It asks for the rows only to count them, as it has their neighbours.
  const epochs = umap.initializeFit(lists.map(() => []));
  // It begins at random positions, from which rows do not always find each other.
  const map = umap.getEmbedding();
  for (const [i, position] of firstPositions(vectors, random).entries()) map[i]?.splice(0, 2, ...position);
  for (let epoch = 0; epoch < epochs; epoch++) umap.step();
  return umap.getEmbedding().map(([x = 0, y = 0]) => [x, y]);
};

/** The principal components, within ±10, as far as umap-js spreads its own; equal rows a little apart. */
const firstPositions = (vectors: Vectors, random: Random): readonly (readonly [x: number, y: number])[] => {
  const components = principalComponents(vectors, random);
  const largest = components.flat().reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = largest === 0 ? 0 : 10 / largest;
  const apart = (): number => (random.unit() - 0.5) / 100;
  return components.map(([x, y]) => [x * scale + apart(), y * scale + apart()]);
};
