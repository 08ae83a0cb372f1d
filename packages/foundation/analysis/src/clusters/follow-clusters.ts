import { cosineDistance } from '../diversity.ts';

/** Clusters that were seen so far: a position in the list is the identity of a cluster, and this is its newest centroid. */
export type KnownClusters = readonly Float64Array[];

/** Centroids nearer than this are of one cluster (pool §7.3). */
const SAME = 0.3;

/**
 * The identities of the clusters of the next snapshot: the nearest pair of a known and a new centroid is one cluster, then the
 * nearest of those that are left, as long as their cosine distance is below 0.3. The others are new. A cluster that is gone
 * keeps its identity, and has it again when it returns.
 */
export const followClusters = (
  known: KnownClusters,
  centroids: readonly Float64Array[],
): { readonly identities: readonly number[]; readonly known: KnownClusters } => {
  const pairs = known.flatMap((old, identity) =>
    centroids.map((centroid, label) => ({ identity, label, distance: cosineDistance(old, centroid) })),
  );
  pairs.sort((a, b) => a.distance - b.distance || a.identity - b.identity || a.label - b.label);
  const identities = centroids.map(() => -1);
  const next = [...known];
  const taken = new Set<number>();
  for (const { identity, label, distance } of pairs) {
    if (distance >= SAME || taken.has(identity) || identities[label] !== -1) continue;
    taken.add(identity);
    identities[label] = identity;
    next[identity] = centroids[label] ?? new Float64Array();
  }
  for (const [label, centroid] of centroids.entries())
    if (identities[label] === -1) identities[label] = next.push(centroid) - 1;
  return { identities, known: next };
};
