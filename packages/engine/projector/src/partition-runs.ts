import { fail, isStemmaError } from '@stemma/errors';
import { openRevalidatingReader, progressGuard, type RevalidatingReader } from '@stemma/log';
import type { Generation } from '@stemma/row-store';
import { defined } from '@stemma/values';
import type { CurrentGeneration } from './current-generation.ts';
import type { FoldContext } from './fold-frame.ts';
import type { Followed } from './followed.ts';
import { dropReplaced, isLater, promote } from './generations.ts';
import type { Resolved } from './options.ts';
import { inGeneration } from './repair.ts';
import { clearCaches, readCheckpoint } from './run-partition.ts';

export type PartitionRunsOptions = Resolved & {
  readonly current: CurrentGeneration;
  /** What the current rows are folded with. */
  readonly context: FoldContext;
  readonly followed: Followed;
  /** Called after all rows were destroyed. */
  readonly forgetRows: () => void;
};

/** The runs of a projector: those of one partition take turns. */
export type PartitionRuns = {
  /** Does work of a partition when no other is done there. */
  inTurn<T>(partition: number, work: () => Promise<T>): Promise<T>;
  /** Folds until the rows of `target` have what the log has, however often others are faster. */
  run(
    partition: number,
    target: () => Promise<Generation>,
    context: FoldContext,
    options?: RunOptions,
  ): Promise<void>;
  /** Folds to the log's end as it is now, and makes these rows the current ones if they are as far as those. */
  catchUp(partition: number): Promise<void>;
  /** The same for one that follows: between two looks at what is current it asks for nothing that it knows. */
  followOn(partition: number): Promise<void>;
};

type RunOptions = { readonly trustKnown?: boolean; readonly until?: number | undefined };

export const openPartitionRuns = (options: PartitionRunsOptions): PartitionRuns => {
  const { log, store, group, current, context, followed, partitions, progress } = options;
  const queues = new Map<number, Promise<unknown>>();
  const inTurn = <T>(partition: number, work: () => Promise<T>): Promise<T> => {
    const before = queues.get(partition) ?? Promise.resolve();
    const mine = before.then(work, work);
    queues.set(
      partition,
      mine.catch(() => undefined),
    );
    return mine;
  };

  /** Of each generation, the reader of each partition. */
  const readers = new WeakMap<Generation, RevalidatingReader[]>();
  const readersOf = (generation: Generation): RevalidatingReader[] => {
    const known =
      readers.get(generation) ?? partitions.map((partition) => openRevalidatingReader(log, partition));
    readers.set(generation, known);
    return known;
  };

  /** Rows that hold something erased are not patched: all begin anew. */
  const destroyRows = async (): Promise<void> => {
    if (store.destroy === undefined) throw fail('E_NOT_ERASABLE', 'these rows cannot be destroyed');
    await store.destroy();
    current.forget();
    options.forgetRows();
  };

  const run: PartitionRuns['run'] = async (partition, target, fresh, { trustKnown = false, until } = {}) => {
    const round = progressGuard(`others move the rows of partition ${partition}`);
    for (;;) {
      const generation = await target();
      try {
        await options.runPartition.run({
          log,
          store,
          generation,
          context: fresh,
          partition,
          trustKnown,
          reader: readersOf(generation)[partition] ?? openRevalidatingReader(log, partition),
          limits: options.limits,
          cacheBytes: options.cacheBytes,
          now: options.now,
          committed: (at) => progress?.(at),
          ...(options.stop && { stop: options.stop }),
          ...defined({ until }),
        });
        return;
      } catch (error) {
        clearCaches(fresh);
        followed.forget();
        if (isStemmaError(error, 'E_ROWS_ERASED')) {
          await destroyRows();
          continue;
        }
        if (!isStemmaError(error, 'E_CURSOR_MOVED')) throw inGeneration(error, generation.name);
        round(`${generation.name} ${(await readCheckpoint(generation, partition))?.cursor.offset ?? 0}`);
      }
    }
  };

  const catchUp = (partition: number): Promise<void> =>
    inTurn(partition, async () => {
      // To the end as it is now: where much is written a run would never come to the last record.
      const until = log.isRemote === true ? undefined : await log.end(partition);
      await run(partition, () => current.get(), context, { until });
      const target = await current.get();
      const { name } = target;
      const now = await store.current(group);
      if (now === name) followed.found(target);
      // Two versions may run side by side while one replaces the other: the rows of the later one stay current.
      if (now === name || (now !== null && isLater(now, name))) return;
      if (await promote(store, group, name, log)) await dropReplaced(store, name);
    });

  return {
    inTurn,
    run,
    catchUp,
    followOn: (partition) =>
      followed.generation() === undefined
        ? catchUp(partition)
        : inTurn(partition, () =>
            run(partition, async () => followed.generation() ?? current.get(), context, { trustKnown: true }),
          ),
  };
};
