import {
  centroidOf,
  cosineDistance,
  describeClusters,
  diversity,
  hdbscan,
  meanSimilarity,
  rowOf,
  selectRows,
  unitVectors,
  vectorsFrom,
  type Vectors,
} from '@stemma/analysis';
import { toHex } from '@stemma/canonical';
import type { RowReader } from '@stemma/row-store';
import {
  newestEntries,
  nextAtSnapshot,
  poolPath,
  poolSizeAt,
  vectorOf,
  type PoolAt,
  type PoolEntry,
} from './pool-rows.ts';
import { POOL_SEEDS } from './tables.ts';

/** Attractors are looked for at every snapshot in at most so many messages: the time grows with their square. */
const MOST_SEARCHED = 1_000;

/** An attractor of a snapshot; messages by their numbers. */
export type MeasuredAttractor = {
  readonly size: number;
  readonly coherence: number;
  readonly representative: number;
  readonly members: readonly number[];
  readonly rounds: { readonly first: number; readonly last: number; readonly count: number };
};

/** A pool in figures (pool §7.2, §7.3). */
export type PoolFigures = {
  readonly next: number;
  readonly messages: number;
  readonly active: number;
  readonly embedded: number;
  readonly texts: number;
  readonly added: number;
  readonly similarity: number | null;
  readonly seedDistance: number | null;
  readonly diversity: number | null;
  readonly noise: number | null;
  readonly attractors: readonly MeasuredAttractor[] | null;
};

/** What is measured: the newest `activeSize` messages, by the vectors of one embedder. */
export type PoolMeasure = { readonly activeSize: number; readonly embedder: string };

/** The figures of a pool at a position. The order of every sum is that in which messages came, so they are the same bits anywhere. */
export const measurePool = (
  rows: RowReader,
  at: PoolAt,
  { activeSize, embedder }: PoolMeasure,
  /** The newest frame that may hold the snapshot before. */
  before: number,
): PoolFigures => {
  const { history, seq } = at;
  const path = poolPath(rows, at);
  const { next, messages } = poolSizeAt(rows, history, path);
  const active = newestEntries(rows, history, path, { next, most: activeSize });
  const since = nextAtSnapshot(rows, history, path, before);
  const added = newestEntries(rows, history, path, { next, from: since });
  const read = (hash: Uint8Array): Float32Array | undefined => vectorOf(rows, history, embedder, hash);
  const [known, vectors] = embeddedOf(active, read);
  const [, own] = embeddedOf(added, read);
  const seeds = rows
    .range(POOL_SEEDS, { prefix: [history], to: seq })
    .flatMap(({ value: [hash] }) => read(hash) ?? []);
  const { noise, attractors } = attractorsOf(known, vectors);
  return {
    next,
    messages,
    active: active.length,
    embedded: known.length,
    texts: new Set(active.map(({ contentHash }) => toHex(contentHash))).size,
    added: added.length,
    similarity: own === null ? null : meanSimilarity(own),
    seedDistance: own === null || seeds.length === 0 ? null : seedDistanceOf(own, vectorsFrom(seeds)),
    diversity: vectors === null ? null : diversity(vectors),
    noise,
    attractors,
  };
};

/** The messages that have a vector, and the vectors; null: none has. */
const embeddedOf = (
  entries: readonly PoolEntry[],
  read: (hash: Uint8Array) => Float32Array | undefined,
): readonly [readonly PoolEntry[], Vectors | null] => {
  const known: PoolEntry[] = [];
  const vectors: Float32Array[] = [];
  for (const entry of entries) {
    const vector = read(entry.contentHash);
    if (vector === undefined) continue;
    known.push(entry);
    vectors.push(vector);
  }
  return [known, vectors.length === 0 ? null : vectorsFrom(vectors)];
};

const seedDistanceOf = (own: Vectors, seeds: Vectors): number => {
  const centroid = centroidOf(seeds);
  let sum = 0;
  for (let row = 0; row < own.rows; row++) sum += cosineDistance(rowOf(own, row), centroid);
  return sum / own.rows;
};

const attractorsOf = (
  entries: readonly PoolEntry[],
  vectors: Vectors | null,
): Pick<PoolFigures, 'noise' | 'attractors'> => {
  if (entries.length > MOST_SEARCHED) return { noise: null, attractors: null };
  if (vectors === null) return { noise: 0, attractors: [] };
  const units = unitVectors(vectors);
  const { labels } = hdbscan(units, { minClusterSize: 3 });
  const rounds = entries.map(({ round }) => round);
  const ordinal = (row: number): number => entries[row]?.ordinal ?? 0;
  const attractors = describeClusters(units, labels, rounds).map((cluster) => ({
    size: cluster.size,
    coherence: cluster.coherence,
    representative: ordinal(cluster.representative),
    members: cluster.rows.map(ordinal),
    rounds: cluster.rounds ?? { first: 0, last: 0, count: 0 },
  }));
  return { noise: labels.filter((label) => label < 0).length, attractors };
};

/** The centroid of messages, as identities of attractors are followed by (pool §7.3). */
export const centroidOfEntries = (vectors: readonly Float32Array[]): Float64Array =>
  centroidOf(
    selectRows(
      unitVectors(vectorsFrom(vectors)),
      vectors.map((_, row) => row),
    ),
  );
