import type { Checkpoint } from '@stemma/log';
import { DEFECTS } from '@stemma/history-store';
import { listRows, type Generation, type GenerationView, type Scan, type Table } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { openBranchCache } from './branch-cache.ts';
import { catchUpForAll } from './catch-up-for-all.ts';
import { hasRestoredContent } from './contents-with-sizes.ts';
import { openCountCheck } from './counts/index.ts';
import { openCurrentGeneration } from './current-generation.ts';
import type { FoldContext } from './fold-frame.ts';
import { openFollowing, type Following } from './following.ts';
import { openFollowed } from './followed.ts';
import { framesInRows } from './frames-in-rows.ts';
import { openOnDemand, type AskedModels } from './on-demand/index.ts';
import { resolveOptions, type Defaulted, type ProjectorOptions } from './options.ts';
import { openPartitionRuns } from './partition-runs.ts';
import { openPayloads } from './payloads.ts';
import type { Projection } from './projection.ts';
import { openReadOnce } from './read-once.ts';
import { rebuildRows } from './rebuild-rows.ts';
import { inGeneration, openRepair } from './repair.ts';
import { clearCaches, readCheckpoint } from './run-partition.ts';
import { withYoungRows } from './with-young-rows.ts';

/**
 * The program that runs read models over a log into rows, and reads them. Runs of a partition take turns; several
 * processes may fold into one store.
 */
export type Projector = Projection &
  Following & {
    /** The rows of the group that this version's read models wrote. */
    generation(): Promise<Generation>;
    /** What `fn` makes of whole tables of these rows; it is called again after damaged rows were built anew. */
    scan<T>(fn: (scan: Scan, tables: readonly Table[]) => Promise<T>): Promise<T>;
    /**
     * Rebuilds the rows beside the old ones, from offset zero, and switches to them when they are as far.
     *
     * @throws E_LOG_MISMATCH if the log is not intact: the old rows stay
     */
    rebuild(): Promise<void>;
    /** The histories for which read models on demand have rows; these now have every frame that the others have. */
    onDemand(): Promise<AskedModels>;
    /** Ends what folds its runs, before the store is closed. */
    close(): Promise<void>;
    /** For programs that build on the loop itself. */
    readonly options: Defaulted;
  };

/** A projector. @throws nothing: it first reads the log in `catchUp`. */
export const openProjector = (given: ProjectorOptions): Projector => {
  const options = resolveOptions(given);
  const { log, contents, store, keepFrames, partitions, tables } = options;
  const current = openCurrentGeneration(options);
  const generation = (): Promise<Generation> => current.get();
  const followed = openFollowed(options.now);

  const payloads = openPayloads({ log, contents, ...framesInRows((fn) => read(fn), keepFrames) });
  const context: FoldContext = {
    models: options.folded,
    onDemand: options.onDemand,
    eager: options.eager === 'all' ? () => true : options.eager,
    isCounted: options.isCounted,
    contents,
    decoded: options.decoded,
    branchCache: openBranchCache(options.cacheBytes),
    payloads,
    keepFrames,
    pause: options.pause,
  };
  /** What is folded on demand has a cache of its own. */
  const behind: FoldContext = {
    ...context,
    branchCache: openBranchCache(Math.ceil(options.cacheBytes / 4)),
  };
  /** Nothing of these rows is in memory any more. */
  const forgetRows = (): void => {
    clearCaches(context);
    clearCaches(behind);
    payloads.clear();
  };

  const runs = openPartitionRuns({ ...options, current, context, followed, forgetRows });
  const rebuild = (): Promise<void> => rebuildRows({ ...options, current, context, runs, forgetRows });
  const repair = openRepair({
    rebuild: async (damage) => {
      const name = String(damage.detail['generation'] ?? '');
      if (!(await store.discard(name))) return;
      options.damaged?.(damage);
      current.forget();
      await rebuild();
    },
    ...defined({ timeout: options.repairTimeout }),
  });
  const onDemand = openOnDemand({
    models: options.onDemand,
    context: behind,
    partitions: log.partitions,
    limits: options.limits,
    now: options.now,
    stop: options.stop,
    generation,
    inTurn: (partition, work) => repair.run(() => runs.inTurn(partition, work)),
  });

  const catchUpAll = async (some: readonly number[]): Promise<void> => {
    for (const partition of some) await runs.catchUp(partition);
  };
  const checkCounts = openCountCheck(options.isCounted, options.now);
  const readOnce = openReadOnce({
    group: options.group,
    current,
    view: (view, name) => onDemand.view(checkCounts(view, name)),
    catchUp: () => catchUpAll(partitions),
  });
  const read = <T>(fn: (view: GenerationView) => T): Promise<T> =>
    onDemand.reading(() => repair.run(() => readOnce(fn)));
  const scan: Projector['scan'] = (fn) =>
    repair.run(async () => {
      const scanned = await generation();
      try {
        return await scanned.scan((rows) => fn(rows, tables));
      } catch (error) {
        throw inGeneration(error, scanned.name);
      }
    });
  const checkpoint = (partition: number): Promise<Checkpoint | undefined> =>
    repair.run(async () => readCheckpoint(await generation(), partition));
  const catchUpOnce = async (partition?: number): Promise<void> => {
    if (await hasRestoredContent(await readOnce((view) => listRows(view, DEFECTS, {})), contents))
      await rebuild();
    await catchUpAll(partition === undefined ? partitions : [partition]);
  };

  return {
    read,
    scan,
    generation,
    payloads,
    checkpoint,
    partitions: log.partitions,
    options,
    catchUp: catchUpForAll((partition) => repair.run(() => catchUpOnce(partition))),
    rebuild: () => repair.run(() => withYoungRows(rebuild)),
    close: () => options.runPartition.close(),
    ...openFollowing({ ...options, followed, runs, repair, checkpoint }),
    async lacking(history, model) {
      const count = onDemand.lacking(history, model);
      return count === undefined ? 0 : repair.run(() => readOnce(count));
    },
    async onDemand() {
      const asked = await scan((rows) => onDemand.asked(rows));
      await onDemand.fold(asked);
      return asked;
    },
  };
};
