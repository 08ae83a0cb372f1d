import { centroidOf, cosineDistance, meanSimilarity } from '../diversity.ts';
import { selectRows, rowOf, type Vectors } from '../vectors.ts';

/** What is known of a cluster (pool §7.3). */
export type Cluster = {
  readonly label: number;
  readonly size: number;
  /** Mean cosine similarity of all pairs of different rows in it. */
  readonly coherence: number;
  /** The mean of its rows. */
  readonly centroid: Float64Array;
  /** The row with the smallest cosine distance from the centroid; of equal ones the first. */
  readonly representative: number;
  /** The rows in it, ascending. */
  readonly rows: readonly number[];
  /** The first and the last round that it has messages of, and how many rounds; null where no rounds are known. */
  readonly rounds: { readonly first: number; readonly last: number; readonly count: number } | null;
};

/** The clusters that labels make of rows, by label. @param rounds the round of each row */
export const describeClusters = (
  vectors: Vectors,
  labels: Int32Array,
  rounds?: readonly number[],
): readonly Cluster[] => {
  const members = Map.groupBy(labels.keys(), (row) => labels[row]!);
  return [...members]
    .filter(([label]) => label >= 0)
    .sort(([a], [b]) => a - b)
    .map(([label, rows]) => {
      const own = selectRows(vectors, rows);
      const centroid = centroidOf(own);
      return {
        label,
        size: rows.length,
        coherence: meanSimilarity(own) ?? 1,
        centroid,
        representative: representativeOf(vectors, rows, centroid),
        rows,
        rounds: rounds === undefined ? null : spanOf(rows.map((row) => rounds[row] ?? 0)),
      };
    });
};

const representativeOf = (vectors: Vectors, rows: readonly number[], centroid: Float64Array): number => {
  let [best, least] = [rows[0] ?? 0, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    const distance = cosineDistance(rowOf(vectors, row), centroid);
    if (distance >= least) continue;
    [best, least] = [row, distance];
  }
  return best;
};

const spanOf = (rounds: readonly number[]): NonNullable<Cluster['rounds']> => {
  const different = [...new Set(rounds)].sort((a, b) => a - b);
  return { first: different[0] ?? 0, last: different.at(-1) ?? 0, count: different.length };
};
