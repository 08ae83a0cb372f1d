import { EMBEDDER } from '@stemma/analysis';
import { fail } from '@stemma/errors';
import type { Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import {
  listEmbeddedMessages,
  listPoolMetrics,
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

/** What is asked of pools. */
export type PoolQuestions = {
  /** @throws E_NOT_A_POOL */
  metrics(position: Position): Promise<PoolMetrics>;
  /** The messages of a pool with the stored vectors of their texts, the oldest first. @throws E_NOT_A_POOL */
  embedded(position: Position): Promise<readonly EmbeddedMessage[]>;
};

/** Answers from rows: no text is read, and no vector computed again (pool: One model). */
export const openPools = (projection: Projection): PoolQuestions => ({
  metrics: (position) =>
    readOf(projection, position.history, (rows) => {
      const activeSize = activeSizeOf(configAt(rows, position), position);
      const { cycle: round } = position;
      const found = listPoolMetrics(rows, position, { activeSize, embedder: EMBEDDER, round: round ?? 0 });
      return { position, embedder: EMBEDDER, ...found };
    }),
  embedded: (position) =>
    readOf(projection, position.history, (rows) => {
      activeSizeOf(configAt(rows, position), position);
      return listEmbeddedMessages(rows, position, EMBEDDER);
    }),
});

const activeSizeOf = (
  { active_pool_size: size }: { readonly [key: string]: unknown },
  position: Position,
): number => {
  if (typeof size === 'number') return size;
  throw fail('E_NOT_A_POOL', `${position.branch} is no pool: its configuration names no active_pool_size`);
};
