/** How often each term occurs in a sample, by its number. */
export type TermCounts = Float64Array;

const totalOf = (counts: TermCounts): number => counts.reduce((sum, count) => sum + count, 0);

/**
 * The Jensen-Shannon distance between the distributions of terms (Endres and Schindelin, "A new metric for probability
 * distributions", IEEE Transactions on Information Theory 49, 2003): the square root of the divergence to the base 2, from 0 for equal
 * distributions to 1 for those with no common term. Null if one has no terms.
 */
export const jensenShannon = (a: TermCounts, b: TermCounts): number | null => {
  const [ofA, ofB] = [totalOf(a), totalOf(b)];
  if (ofA === 0 || ofB === 0) return null;
  let divergence = 0;
  for (let term = 0; term < a.length; term++) {
    const [p, q] = [a[term]! / ofA, b[term]! / ofB];
    const mean = (p + q) / 2;
    if (p > 0) divergence += (p * Math.log2(p / mean)) / 2;
    if (q > 0) divergence += (q * Math.log2(q / mean)) / 2;
  }
  return Math.sqrt(Math.min(1, Math.max(0, divergence)));
};

/**
 * How much of the vocabulary of `before` is still there: the share of its occurrences of terms whose term occurs in `after` too. Null
 * if it has no terms.
 */
export const vocabularyPersistence = (before: TermCounts, after: TermCounts): number | null => {
  const all = totalOf(before);
  if (all === 0) return null;
  let kept = 0;
  for (let term = 0; term < before.length; term++) if (after[term]! > 0) kept += before[term]!;
  return kept / all;
};

/**
 * The overlap of attractors: Σ min(share of a in the cluster, share of b in it) over the clusters of both samples together, the shares
 * being of the rows that are in a cluster. 1 if the samples fill the clusters alike, 0 if they share none. Null if one sample is in
 * no cluster.
 *
 * @param a how many rows of one sample are in each cluster
 */
export const attractorOverlap = (a: Float64Array, b: Float64Array): number | null => {
  const [ofA, ofB] = [totalOf(a), totalOf(b)];
  if (ofA === 0 || ofB === 0) return null;
  let overlap = 0;
  for (let cluster = 0; cluster < a.length; cluster++)
    overlap += Math.min(a[cluster]! / ofA, b[cluster]! / ofB);
  return overlap;
};
