import type { PoolSnapshot } from '@stemma/read-models';
import type { PoolMetrics } from './pools.ts';

const snapshotDocument = (snapshot: PoolSnapshot) => ({
  position: `@s${snapshot.seq}`,
  branch_id: snapshot.branchId,
  embedder: snapshot.embedder,
  round: snapshot.round,
  messages: snapshot.messages,
  active: snapshot.active,
  embedded: snapshot.embedded,
  texts: snapshot.texts,
  added: snapshot.added,
  diversity: snapshot.diversity,
  similarity: snapshot.similarity,
  seed_distance: snapshot.seedDistance,
  noise: snapshot.noise,
  attractors:
    snapshot.attractors?.map(({ members, ...attractor }) => ({ ...attractor, members: [...members] })) ??
    null,
});

/** The figures of a pool as JSON; `last`: only so many of the newest snapshots. */
export const poolMetricsDocument = ({ embedder, snapshots, now }: PoolMetrics, last = Infinity) => ({
  embedder,
  snapshots: snapshots.slice(Math.max(0, snapshots.length - last)).map(snapshotDocument),
  now: snapshotDocument(now),
});
