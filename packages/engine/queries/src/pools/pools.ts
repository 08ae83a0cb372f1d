import { fromHex, sha256 } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import {
  embedderIn,
  embedderRow,
  listEmbeddedMessages,
  listPoolMetrics,
  vectorOf,
  type EmbeddedMessage,
  type PoolSnapshot,
} from '@stemma/read-models';
import { configAt } from '../branches/saved.ts';
import { readOf } from '../catch-up-with.ts';

/** A pool in figures at every snapshot on the way to a position. */
export type PoolMetrics = {
  readonly position: Position;
  readonly embedder: string;
  /** The oldest first. */
  readonly snapshots: readonly PoolSnapshot[];
  /** What is there at the position, also what came after its last snapshot. */
  readonly now: PoolSnapshot;
};

/** The messages of a pool that have a vector by its embedder. */
export type EmbeddedPool = {
  readonly embedder: string;
  /** The oldest first. */
  readonly messages: readonly EmbeddedMessage[];
};

/** What is recorded of an embedder, and which texts have no vector by it. */
export type RecordedVectors = {
  /** Null: the history records none of its vectors. */
  readonly dimension: number | null;
  /** Texts that have a vector. */
  readonly texts: number;
  /** Vectors that do not count because of their dimension. */
  readonly otherDimension: number;
  /** For each text that was asked for, its vector; null: it has none. */
  readonly vectors: readonly (Float32Array | null)[];
};

/** What is asked of pools. */
export type PoolQuestions = {
  /** @throws E_NOT_A_POOL */
  metrics(position: Position): Promise<PoolMetrics>;
  /** The messages of a pool with the stored vectors of their texts, by its own embedder or another one. @throws E_NOT_A_POOL */
  embedded(position: Position, by?: string): Promise<EmbeddedPool>;
  /** The stored vectors of texts by an embedder, whichever branch they were recorded on. */
  vectors(history: string, embedder: string, texts: readonly string[]): Promise<RecordedVectors>;
  /** As `vectors`, of texts that are named by the SHA-256 of their UTF-8, in hexadecimal. */
  vectorsOf(history: string, embedder: string, textHashes: readonly string[]): Promise<RecordedVectors>;
};

/** Answers from rows: no text is read, and no vector computed again (pool: One model). */
export const openPools = (projection: Projection): PoolQuestions => ({
  metrics: (position) =>
    readOf(projection, position.history, (rows) => {
      const config = configAt(rows, position);
      const activeSize = activeSizeOf(config, position);
      const embedder = embedderIn(config);
      const { cycle: round } = position;
      const found = listPoolMetrics(rows, position, { activeSize, embedder, round: round ?? 0 });
      return { position, embedder, ...found };
    }),
  embedded: (position, by) =>
    readOf(projection, position.history, (rows) => {
      const config = configAt(rows, position);
      activeSizeOf(config, position);
      const embedder = by ?? embedderIn(config);
      return { embedder, messages: listEmbeddedMessages(rows, position, embedder) };
    }),
  vectors: (history, embedder, texts) =>
    recordedVectors(
      projection,
      { history, embedder },
      texts.map((text) => sha256(Buffer.from(text))),
    ),
  vectorsOf: (history, embedder, textHashes) =>
    recordedVectors(projection, { history, embedder }, textHashes.map(fromHex)),
});

const recordedVectors = (
  projection: Projection,
  { history, embedder }: { readonly history: string; readonly embedder: string },
  hashes: readonly Uint8Array[],
): Promise<RecordedVectors> =>
  readOf(projection, history, (rows) => {
    const row = embedderRow(rows, history, embedder);
    return {
      dimension: row?.dimension ?? null,
      texts: row?.texts ?? 0,
      otherDimension: row?.otherDimension ?? 0,
      vectors: hashes.map((hash) => vectorOf(rows, history, embedder, hash) ?? null),
    };
  });

const activeSizeOf = (
  { active_pool_size: size }: { readonly [key: string]: unknown },
  position: Position,
): number => {
  if (typeof size === 'number') return size;
  throw fail('E_NOT_A_POOL', `${position.branch} is no pool: its configuration names no active_pool_size`);
};
