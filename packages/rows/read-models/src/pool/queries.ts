import { followClusters, type KnownClusters } from '@stemma/analysis';
import { listRows, type RowReader } from '@stemma/row-store';
import {
  centroidOfEntries,
  measurePool,
  type MeasuredAttractor,
  type PoolFigures,
  type PoolMeasure,
} from './measure-pool.ts';
import { newestEntries, poolPath, poolSizeAt, vectorOf, type PoolAt, type PoolEntry } from './pool-rows.ts';
import { POOL_METRICS } from './tables.ts';

/** An attractor that keeps its identity over snapshots; messages by their nodes. */
export type PoolAttractor = {
  readonly identity: number;
  readonly size: number;
  readonly coherence: number;
  readonly representative: string;
  readonly members: readonly string[];
  readonly rounds: MeasuredAttractor['rounds'];
};

/** The figures of one snapshot, or of what is there after it. */
export type PoolSnapshot = Omit<PoolFigures, 'attractors' | 'next'> & {
  readonly branchId: number;
  readonly seq: number;
  /** By whose vectors it is measured. */
  readonly embedder: string;
  /** The round that the snapshot was made for; its own messages come after it. */
  readonly round: number;
  readonly attractors: readonly PoolAttractor[] | null;
};

/**
 * The figures of all snapshots on the way to a position, the oldest first, and those of the position itself. An attractor has the
 * identity of the one before it that it is nearest to (pool §7.3), counted along this way.
 */
export const listPoolMetrics = (
  rows: RowReader,
  at: PoolAt,
  measure: PoolMeasure & { readonly round: number },
): { readonly snapshots: readonly PoolSnapshot[]; readonly now: PoolSnapshot } => {
  const { history } = at;
  const path = poolPath(rows, at);
  const measured = [...path].reverse().flatMap(({ branchId, limit }) =>
    listRows(rows, POOL_METRICS, { history, branch_id: branchId }, { to: limit }).map((row) => ({
      branchId: row.branch_id,
      seq: row.seq,
      round: row.cycle,
      embedder: row.embedder,
      next: row.next,
      messages: row.messages,
      active: row.active,
      embedded: row.embedded,
      texts: row.texts,
      added: row.added,
      similarity: row.similarity,
      seedDistance: row.seed_distance,
      diversity: row.diversity,
      noise: row.noise,
      attractors: row.attractors as readonly MeasuredAttractor[] | null,
    })),
  );
  const { branchId, seq } = at;
  const { embedder } = measure;
  const now = { branchId, seq, round: measure.round, embedder, ...measurePool(rows, at, measure, seq) };
  const entries = new Map(
    newestEntries(rows, history, path, { next: now.next }).map((entry) => [entry.ordinal, entry]),
  );
  const follow = openFollower(rows, history, entries);
  return { snapshots: measured.map(follow), now: follow(now) };
};

type Measured = PoolFigures & {
  readonly branchId: number;
  readonly seq: number;
  readonly round: number;
  readonly embedder: string;
};

const openFollower = (
  rows: RowReader,
  history: string,
  entries: ReadonlyMap<number, PoolEntry>,
): ((measured: Measured) => PoolSnapshot) => {
  let known: KnownClusters = [];
  let by: string | undefined;
  /** The identities that earlier embedders gave. */
  let given = 0;
  const vectors = new Map<number, Float32Array>();
  const vectorAt = (embedder: string, ordinal: number): readonly Float32Array[] => {
    const kept = vectors.get(ordinal);
    if (kept !== undefined) return [kept];
    const entry = entries.get(ordinal);
    const found = entry === undefined ? undefined : vectorOf(rows, history, embedder, entry.contentHash);
    if (found === undefined) return [];
    vectors.set(ordinal, found);
    return [found];
  };
  const node = (ordinal: number): string => entries.get(ordinal)?.node ?? '';
  return ({ next: _next, attractors, ...rest }) => {
    const { embedder } = rest;
    // Vectors of two embedders cannot be compared: attractors begin anew.
    if (embedder !== by) {
      by = embedder;
      given += known.length;
      known = [];
      vectors.clear();
    }
    if (attractors === null) return { ...rest, attractors };
    const centroids = attractors.map(({ members }) =>
      centroidOfEntries(members.flatMap((ordinal) => vectorAt(embedder, ordinal))),
    );
    const followed = followClusters(known, centroids);
    known = followed.known;
    return {
      ...rest,
      attractors: attractors.map(({ size, coherence, representative, members, rounds }, i) => ({
        identity: given + (followed.identities[i] ?? 0),
        ...{ size, coherence, rounds },
        representative: node(representative),
        members: members.map(node),
      })),
    };
  };
};

/** A message of a pool with the vector of its text. */
export type EmbeddedMessage = PoolEntry & { readonly vector: Float32Array };

/** The messages of a pool at a position that have a vector, the oldest first. */
export const listEmbeddedMessages = (
  rows: RowReader,
  at: PoolAt,
  embedder: string,
): readonly EmbeddedMessage[] => {
  const path = poolPath(rows, at);
  const { next } = poolSizeAt(rows, at.history, path);
  return newestEntries(rows, at.history, path, { next }).flatMap((entry) => {
    const vector = vectorOf(rows, at.history, embedder, entry.contentHash);
    return vector === undefined ? [] : [{ ...entry, vector }];
  });
};
