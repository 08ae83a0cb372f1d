import type { Checkpoint, EventLog } from '@stemma/log';
import type { GenerationView, RowStore } from '@stemma/row-store';
import { decodeCheckpoint, isClosed } from '../checkpoint.ts';
import { coalesced } from './coalesced.ts';
import type { ExternalGeneration } from './external-generation.ts';
import { retryUntilDeadline } from './retry-until-deadline.ts';

/** By partition. */
export type Offsets = ReadonlyMap<number, number>;

/** The offsets that callers have waited for. The rows that had them may be discarded since: others are read when they have them, too. */
export type ReachedOffsets = {
  readonly checkpoint: (partition: number) => Promise<Checkpoint | undefined>;
  /** Resolves when the rows have these. @throws E_ROWS_BEHIND, E_CANCELLED */
  readonly reach: (targets: Offsets, signal?: AbortSignal) => Promise<void>;
  /** True if these rows do not have what others had. */
  readonly areLacking: (view: GenerationView) => boolean;
  /** Resolves when the rows have it again, or all that a log has which has lost its end. @throws E_ROWS_BEHIND */
  readonly reachAgain: (until: number) => Promise<void>;
  /** Where the log ends. */
  readonly ends: (partitions: readonly number[]) => Promise<Offsets>;
};

export const openReachedOffsets = (options: {
  readonly log: EventLog;
  readonly store: RowStore;
  readonly generation: ExternalGeneration;
  /** How long to wait for rows, in milliseconds. */
  readonly catchUpTimeout: number;
  readonly now: () => number;
}): ReachedOffsets => {
  const { log, store, generation, catchUpTimeout, now } = options;
  /** Every commit wakes all who wait: they look together. */
  const readCheckpoints = coalesced(async (): Promise<ReadonlyMap<number, Checkpoint>> => {
    const cursors = await store.cursors((await generation.find()).name);
    // The generation was dropped: another one is current.
    if (cursors.size === 0) generation.forget();
    return new Map([...cursors].map(([partition, bytes]) => [partition, decodeCheckpoint(bytes)]));
  });
  const waitForOffsets = (targets: Offsets, until: number, signal?: AbortSignal): Promise<void> => {
    let missing = '';
    const what = (): string => `the rows are behind: ${missing}`;
    return retryUntilDeadline(store, { what, until, now, ...(signal && { signal }) }, async () => {
      const at = await readCheckpoints();
      const behind = [...targets].filter(([partition, offset]) => isBehind(at.get(partition), offset));
      missing =
        at.size === 0
          ? 'no projector of this version has begun (`stemma projector`)'
          : behind
              .map(([partition, to]) => `${partition}@${at.get(partition)?.cursor.offset ?? 0} of ${to}`)
              .join(', ');
      return behind.length === 0 ? { value: undefined } : undefined;
    });
  };
  const reached = new Map<number, number>();
  const sharedEnds = Array.from({ length: log.partitions }, (_, partition) =>
    coalesced(() => log.end(partition)),
  );
  const endOf = (partition: number): Promise<number> => sharedEnds[partition]?.() ?? log.end(partition);
  const ends = async (some: readonly number[]): Promise<Offsets> =>
    new Map(await Promise.all(some.map(async (partition) => [partition, await endOf(partition)] as const)));
  return {
    checkpoint: async (partition) => (await readCheckpoints()).get(partition),
    ends,
    async reach(targets, signal) {
      await waitForOffsets(targets, now() + catchUpTimeout, signal);
      for (const [partition, offset] of targets)
        reached.set(partition, Math.max(offset, reached.get(partition) ?? 0));
    },
    areLacking: (view) =>
      [...reached].some(([partition, offset]) => {
        const cursor = view.cursor(partition);
        return isBehind(cursor === null ? undefined : decodeCheckpoint(cursor), offset);
      }),
    async reachAgain(until) {
      generation.forget();
      for (const [partition, end] of await ends([...reached.keys()]))
        reached.set(partition, Math.min(end, reached.get(partition) ?? 0));
      await waitForOffsets(reached, until);
    },
  };
};

const isBehind = (checkpoint: Checkpoint | undefined, offset: number): boolean =>
  (checkpoint?.cursor.offset ?? 0) < offset && !isClosed(checkpoint);
