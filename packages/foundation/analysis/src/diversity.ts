import { requireSameDimension, rowOf, selectRows, unitVectors, type Vectors } from './vectors.ts';

/** The mean cosine similarity over all pairs of different rows; null for fewer than two. A row of zeros is similar to none. */
export const meanSimilarity = (vectors: Vectors): number | null => {
  const { rows, dimension } = vectors;
  if (rows < 2) return null;
  // The pairs need not be formed: |Σu|² is the sum over all pairs, those of a row with itself included.
  const units = unitVectors(vectors);
  const sum = new Float64Array(dimension);
  let own = 0;
  for (let i = 0; i < rows; i++) {
    const row = rowOf(units, i);
    for (let k = 0; k < dimension; k++) {
      sum[k]! += row[k]!;
      own += row[k]! * row[k]!;
    }
  }
  let all = 0;
  for (const value of sum) all += value * value;
  return (all - own) / (rows * (rows - 1));
};

/** The mean cosine distance over all pairs of different rows (pool §7.2); null for fewer than two. */
export const diversity = (vectors: Vectors): number | null => {
  const similarity = meanSimilarity(vectors);
  return similarity === null ? null : 1 - similarity;
};

/** The mean of the rows. */
export const centroidOf = ({ rows, dimension, values }: Vectors): Float64Array => {
  const centroid = new Float64Array(dimension);
  for (let i = 0, at = 0; i < rows; i++) for (let k = 0; k < dimension; k++) centroid[k]! += values[at++]!;
  return centroid.map((sum) => sum / rows);
};

/** 1 − cos of the angle between two vectors; 1 if one of them is all zeros. */
export const cosineDistance = (a: Float64Array, b: Float64Array): number => {
  let [product, ofA, ofB] = [0, 0, 0];
  for (let k = 0; k < a.length; k++) {
    product += a[k]! * b[k]!;
    ofA += a[k]! * a[k]!;
    ofB += b[k]! * b[k]!;
  }
  return ofA === 0 || ofB === 0 ? 1 : 1 - product / (Math.sqrt(ofA) * Math.sqrt(ofB));
};

/** Figures of one round (pool §7.2). */
export type RoundMetrics = {
  readonly round: number;
  readonly rows: number;
  /** Mean similarity of all pairs of the round; null for fewer than two messages. */
  readonly similarity: number | null;
  /** Mean cosine distance of the round's messages from the centroid of the seed messages. */
  readonly seedDistance: number;
};

/**
 * The figures of each round, in the order of their numbers.
 *
 * @param rounds the round of each row
 * @param seeds the seed messages. @throws E_VECTORS if their dimension is another
 */
export const roundMetrics = (
  vectors: Vectors,
  rounds: readonly number[],
  seeds: Vectors,
): readonly RoundMetrics[] => {
  requireSameDimension(vectors, seeds);
  const centroid = centroidOf(seeds);
  const byRound = Map.groupBy(rounds.keys(), (row) => rounds[row] ?? 0);
  return [...byRound]
    .sort(([a], [b]) => a - b)
    .map(([round, rows]) => {
      let sum = 0;
      for (const row of rows) sum += cosineDistance(rowOf(vectors, row), centroid);
      const similarity = meanSimilarity(selectRows(vectors, rows));
      return { round, rows: rows.length, similarity, seedDistance: sum / rows.length };
    });
};
