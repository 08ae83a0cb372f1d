import { fail, isStemmaError } from '@stemma/errors';
import { findFrame, findFrames } from '@stemma/history-store';
import type { Checkpoint, ContentSource, EventLog } from '@stemma/log';
import { anySignal } from '@stemma/machine';
import type { Generation, GenerationView, RowStore } from '@stemma/row-store';
import { decodeCheckpoint, isClosed } from '../checkpoint.ts';
import { currentName, nextName, signatureOf, tablesOf, unfinishedNames } from '../generations.ts';
import { MAIN_GROUP } from '../groups.ts';
import { openPayloads } from '../payloads.ts';
import type { Projection } from '../projector.ts';
import { inGeneration } from '../repair.ts';
import { countedAmong, openCountCheck } from '../row-counts.ts';
import { coalesced } from './coalesced.ts';

export type ExternalProjectionOptions = {
  readonly log: EventLog;
  readonly contents: ContentSource;
  /** The store that projectors in other processes commit to. */
  readonly store: RowStore;
  /** How long to wait for rows, in milliseconds. Default 10,000. */
  readonly catchUpTimeout?: number;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
};

/** Milliseconds after which a waiting read looks at the rows again, in case a notification was lost. */
const POLL_INTERVAL = 250;
/** Milliseconds after which the generation is looked up again: another may have become current. */
const GENERATION_MAX_AGE = 1_000;

type KnownGeneration = { readonly generation: Generation; readonly at: number };
type Offsets = ReadonlyMap<number, number>;

/**
 * A projection of rows that projectors in other processes write (`stemma projector`). `catchUp` waits until these rows
 * are at the log's end.
 *
 * Its methods throw E_ROWS_BEHIND when the rows do not come in time.
 */
export const openExternalProjection = (options: ExternalProjectionOptions): Projection => {
  const { log, contents, store, catchUpTimeout = 10_000, now = () => performance.now() } = options;
  const { name: group, models, keepFrames } = MAIN_GROUP;
  const signature = signatureOf(models, keepFrames);
  const checkCounts = openCountCheck(countedAmong(models), now);
  let known: KnownGeneration | undefined;

  const findGeneration = async (): Promise<Generation> => {
    const before = known;
    if (before !== undefined && now() - before.at < GENERATION_MAX_AGE) return before.generation;
    const current = (await currentName(store, group, signature)) ?? (await unfinishedName());
    const generation =
      before?.generation.name === current
        ? before.generation
        : await store.generation(current, tablesOf(models, keepFrames));
    known = { generation, at: now() };
    return generation;
  };
  /** The name of a generation that is not promoted yet; if no projector has begun, a name without rows. */
  const unfinishedName = async (): Promise<string> => {
    const current = await store.current(group);
    const [name] = await unfinishedNames(store, signature, current);
    return name ?? nextName(store, signature, current);
  };

  /** Returns the first value of `attempt`, which it repeats after every commit until a deadline. */
  const retryUntilDeadline = async <T>(
    what: () => string,
    attempt: () => Promise<{ readonly value: T } | undefined>,
    {
      signal,
      until: deadline = now() + catchUpTimeout,
    }: { readonly signal?: AbortSignal; readonly until?: number } = {},
  ): Promise<T> => {
    let found = await attempt();
    while (found === undefined) {
      if (signal?.aborted === true) throw fail('E_CANCELLED', `${what()}: the wait ended`);
      if (now() >= deadline) throw rowsBehind(what());
      const done = new AbortController();
      try {
        // The notification is requested before the next attempt, so that no commit is missed in between.
        const notified = nextChange(done.signal);
        found = await attempt();
        if (found === undefined) await notified;
      } finally {
        done.abort();
      }
    }
    return found.value;
  };
  const nextChange = (signal: AbortSignal): Promise<void> => {
    const either = anySignal([signal, AbortSignal.timeout(POLL_INTERVAL)]);
    return new Promise((resolve) => {
      either.addEventListener('abort', () => resolve(), { once: true });
      void store.changed?.(either).then(resolve, () => undefined);
    });
  };

  const lookUpCheckpoints = async (): Promise<ReadonlyMap<number, Checkpoint>> => {
    const { name } = await findGeneration();
    const cursors = await store.cursors(name);
    // The generation was dropped: another one is current.
    if (cursors.size === 0) known = undefined;
    return new Map([...cursors].map(([partition, bytes]) => [partition, decodeCheckpoint(bytes)]));
  };
  /** Every commit wakes all who wait: they look together. */
  const readCheckpoints = coalesced(lookUpCheckpoints);
  const isBehind = (checkpoint: Checkpoint | undefined, offset: number): boolean =>
    (checkpoint?.cursor.offset ?? 0) < offset && !isClosed(checkpoint);
  const waitForOffsets = (
    targets: Offsets,
    options: { readonly signal?: AbortSignal; readonly until?: number } = {},
  ): Promise<void> => {
    let missing = '';
    return retryUntilDeadline(
      () => `the rows are behind: ${missing}`,
      async () => {
        const at = await readCheckpoints();
        const behindPartitions = [...targets].filter(([partition, offset]) =>
          isBehind(at.get(partition), offset),
        );
        missing =
          at.size === 0
            ? 'no projector of this version has begun (`stemma projector`)'
            : behindPartitions
                .map(([partition, to]) => `${partition}@${at.get(partition)?.cursor.offset ?? 0} of ${to}`)
                .join(', ');
        return behindPartitions.length === 0 ? { value: undefined } : undefined;
      },
      options,
    );
  };
  /** What callers have waited for. The rows that had it may be discarded since: others are read when they have it, too. */
  const reached = new Map<number, number>();
  const reach = async (targets: Offsets, signal?: AbortSignal): Promise<void> => {
    await waitForOffsets(targets, signal === undefined ? {} : { signal });
    for (const [partition, offset] of targets)
      reached.set(partition, Math.max(offset, reached.get(partition) ?? 0));
  };
  /** Resolves when the rows have it again, or all that a log has which has lost its end. */
  const reachAgain = async (until: number): Promise<void> => {
    known = undefined;
    for (const [partition, end] of await ends([...reached.keys()]))
      reached.set(partition, Math.min(end, reached.get(partition) ?? 0));
    await waitForOffsets(reached, { until });
  };
  const lacksReached = (view: GenerationView): boolean =>
    [...reached].some(([partition, offset]) => {
      const cursor = view.cursor(partition);
      return isBehind(cursor === null ? undefined : decodeCheckpoint(cursor), offset);
    });

  /** False if another generation is current: one without cursors may have been replaced and dropped. */
  const isCurrentGeneration = async (generation: Generation): Promise<boolean> => {
    known = undefined;
    return (await findGeneration()).name === generation.name;
  };
  const read = <T>(fn: (view: GenerationView) => T): Promise<T> => {
    const until = now() + catchUpTimeout;
    const attempt = async (): Promise<T> => {
      const generation = await findGeneration();
      const found = await generation
        .read((view) =>
          lacksReached(view)
            ? undefined
            : { empty: view.partitions().length === 0, value: fn(checkCounts(view, generation.name)) },
        )
        .catch((error: unknown) => {
          throw inGeneration(error, generation.name);
        });
      if (found === undefined) {
        await reachAgain(until);
        return attempt();
      }
      const { value, empty } = found;
      return !empty || (await isCurrentGeneration(generation)) ? value : attempt();
    };
    return reportingDamage(attempt());
  };
  /** Damaged rows are not shown, and thrown away: their projector finds nothing then, and builds them again. */
  const reportingDamage = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      if (isStemmaError(error, 'E_ROWS_DAMAGED') && 'generation' in error.detail) {
        known = undefined;
        // Who may only read cannot; the damage is what the caller has to know.
        await store.discard(String(error.detail['generation'])).catch(() => false);
      }
      throw error;
    }
  };

  const checkpoint = async (partition: number): Promise<Checkpoint | undefined> =>
    (await readCheckpoints()).get(partition);
  const partitions = Array.from({ length: log.partitions }, (_, partition) => partition);
  const sharedEnds = partitions.map((partition) => coalesced(() => log.end(partition)));
  const endOf = (partition: number): Promise<number> => sharedEnds[partition]?.() ?? log.end(partition);
  const ends = async (some: readonly number[]): Promise<Offsets> =>
    new Map(await Promise.all(some.map(async (partition) => [partition, await endOf(partition)] as const)));

  return {
    read,
    isRemote: true,
    partitions: log.partitions,
    checkpoint,
    payloads: openPayloads({
      log,
      contents,
      frameAt: (history, seq) => read((view) => findFrame(view, history, seq, keepFrames)),
      framesAt: (history, from, count) => read((view) => findFrames(view, history, from, count, keepFrames)),
    }),
    catchUp: async (partition) => {
      await reach(await ends(partition === undefined ? partitions : [partition]));
    },
    async waitFor({ partition, offset }, signal) {
      await reach(new Map([[partition, offset]]), signal);
      const at = await checkpoint(partition);
      if ((at?.cursor.offset ?? 0) < offset)
        throw fail('E_PARTITION_CLOSED', `a damaged record closes partition ${partition}`, { partition });
    },
  };
};

const rowsBehind = (why: string): Error => fail('E_ROWS_BEHIND', why);
