import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import { DEFECTS, findFrame, findFrames } from '@stemma/history-store';
import {
  openRevalidatingReader,
  partitionOf,
  progressGuard,
  type Checkpoint,
  type ContentSource,
  type DecodedFrames,
  type EventLog,
  type RevalidatingReader,
} from '@stemma/log';
import { anySignal } from '@stemma/machine';
import { READ_MODELS, type ReadModel } from '@stemma/read-models';
import type { Generation, GenerationView, RowStore, Scan, Table } from '@stemma/row-store';
import { fetching, resume } from '@stemma/suspend';
import { openBranchCache } from './branch-cache.ts';
import { catchUpForAll } from './catch-up-for-all.ts';
import { isClosed } from './checkpoint.ts';
import { contentsWithSizes, hasRestoredContent } from './contents-with-sizes.ts';
import type { FoldContext } from './fold-frames.ts';
import {
  currentName,
  dropReplaced,
  isLater,
  nextName,
  offsetOf,
  promote,
  signatureOf,
  tablesOf,
  unfinishedNames,
} from './generations.ts';
import { withYoungRows } from './with-young-rows.ts';
import { moreRecords } from './more-records.ts';
import { openPayloads, type Payloads } from './payloads.ts';
import { readCurrent } from './read-current.ts';
import { gather, noticeDiscards, openFollowed, type Discards } from './followed.ts';
import { foldOnDemand } from './fold-on-demand.ts';
import { countUnfolded, ON_DEMAND, UNFOLDED, viewOnDemand } from './on-demand-rows.ts';
import { inGeneration, openRepair } from './repair.ts';
import { countedAmong, openCountCheck } from './row-counts.ts';
import {
  clearCaches,
  readCheckpoint,
  runPartition,
  type BatchLimits,
  type Progress,
} from './run-partition.ts';
import { openShortRuns } from './short-runs/short-runs.ts';
import { workersFor, type WorkersOptions } from './workers/workers-for.ts';

export type ProjectorOptions = {
  readonly log: EventLog;
  readonly contents: ContentSource;
  readonly store: RowStore;
  /** The frames that this process has written and decoded: they are folded as they are. A rebuild decodes all. */
  readonly decoded?: Pick<DecodedFrames, 'take' | 'stop'>;
  /** Default: the catalogue. */
  readonly models?: readonly ReadModel[];
  /** The group of readers: projectors of one group share their rows. Default `all`. */
  readonly group?: string;
  /**
   * The read models on demand that are folded with every frame: all, or those for which this is true; the others when
   * somebody reads them. Default: none.
   */
  readonly eager?: 'all' | ((history: string, model: string) => boolean);
  /** Keep the frames' bytes among the rows and read payloads there: for remote logs. Default false. */
  readonly keepFrames?: boolean;
  readonly limits?: BatchLimits;
  /** Bytes of trees to cache. Default 64 MiB. */
  readonly cacheBytes?: number;
  readonly progress?: (progress: Progress) => void;
  /** Called after every commit: true ends the run there, as a killed process would. For tests and verification. */
  readonly stop?: () => boolean;
  /** Told of rows that are damaged, before they are thrown away and built again. */
  readonly damaged?: (damage: StemmaError) => void;
  /** Milliseconds that a reader waits for damaged rows to be built again. Default: until they are. */
  readonly repairTimeout?: number;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
  /** Threads that fold long runs with this one, if they can read the rows. Default: none. */
  readonly workers?: WorkersOptions;
  /**
   * Frames and events of short runs that are folded here, before a thread of its own folds and commits such runs, if it can.
   * Default: there is none. Such a projector must be closed.
   */
  readonly shortRunsAfter?: number;
  /** Called between frames; what it returns is awaited, so that others have a turn. Default: nothing. */
  readonly pause?: () => Promise<void> | undefined;
};

/** Rows that a home reads, written by this process or another. */
export type Projection = {
  /**
   * The result of `fn` on one consistent state of the current rows; `fn` is synchronous and may be called again (see
   * `Generation`). Damaged rows are built again, and `fn` is called on those; rows of other processes throw E_ROWS_DAMAGED.
   */
  read<T>(fn: (view: GenerationView) => T): Promise<T>;
  readonly payloads: Payloads;
  /**
   * The number of frames of a history that are folded into a read model when somebody reads its rows. Not there: none ever.
   */
  lacking?(history: string, model: ReadModel): Promise<number>;
  /** True if each read takes requests over a network. */
  readonly isRemote?: boolean;
  /** The number of partitions of the log. */
  readonly partitions: number;
  /** The checkpoint of the rows; undefined before the first commit. */
  checkpoint(partition: number): Promise<Checkpoint | undefined>;
  /**
   * Resolves when the rows have what is in the log now, in one partition or in all, except after damage.
   *
   * @throws E_CURSOR_LOST: rebuild. E_VERSION_NEEDED. E_IO. Rows of other processes: E_ROWS_BEHIND.
   */
  catchUp(partition?: number): Promise<void>;
  /**
   * Resolves when the rows are at `offset` or after it, so that the caller can read what it has written.
   *
   * @throws E_PARTITION_CLOSED if damage keeps them from getting there, E_CANCELLED, and as `catchUp`
   */
  waitFor(
    position: { readonly partition: number; readonly offset: number },
    signal: AbortSignal,
  ): Promise<void>;
};

/**
 * The program that runs read models over a log into rows, and reads them. Runs of a partition take turns; several
 * processes may fold into one store.
 */
export type Projector = Projection & {
  /** The rows of the group that this version's read models wrote. */
  generation(): Promise<Generation>;
  /** What `fn` makes of whole tables of these rows; it is called again after damaged rows were built anew. */
  scan<T>(fn: (scan: Scan, tables: readonly Table[]) => Promise<T>): Promise<T>;
  /** Catches up, and again on every new frame, until the signal aborts; in some partitions or in all. */
  follow(signal: AbortSignal, partitions?: readonly number[]): Promise<void>;
  /**
   * Rebuilds the rows beside the old ones, from offset zero, and switches to them when they are as far.
   *
   * @throws E_LOG_MISMATCH if the log is not intact: the old rows stay
   */
  rebuild(): Promise<void>;
  /** The histories for which read models on demand have rows; these now have every frame that the others have. */
  onDemand(): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** Ends its threads, before the store is closed. */
  close(): Promise<void>;
  /** For programs that build on the loop itself. */
  readonly options: Required<
    Omit<ProjectorOptions, 'decoded' | 'progress' | 'stop' | 'damaged' | 'repairTimeout' | 'shortRunsAfter'>
  >;
};

/** A projector. @throws nothing: it first reads the log in `catchUp`. */
export const openProjector = (given: ProjectorOptions): Projector => {
  const { decoded, progress, stop, damaged, repairTimeout, shortRunsAfter, ...rest } = given;
  const options = {
    models: READ_MODELS,
    group: 'all',
    eager: () => false,
    keepFrames: false,
    limits: {},
    workers: { count: 0 },
    cacheBytes: 64 * 1024 * 1024,
    now: () => performance.now(),
    pause: () => undefined,
    ...rest,
  };
  const { log, store, group, keepFrames, limits, now } = options;
  const eager = options.eager === 'all' ? () => true : options.eager;
  const [models, onDemand] = splitOnDemand(options.models, options.eager);
  const contents = contentsWithSizes(options.contents);
  const signature = signatureOf(options.models, keepFrames, onDemand.length > 0);
  const tables = tablesOf(options.models, keepFrames, onDemand.length > 0);
  const modelOf = new Map(onDemand.flatMap((model) => model.tables.map((table) => [table, model] as const)));
  const isCounted = countedAmong(options.models);
  const checkCounts = openCountCheck(isCounted, now);
  const opened = new Map<string, Generation>();

  const open = async (name: string): Promise<Generation> => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const generation = await store.generation(name, tables);
    opened.set(name, generation);
    return generation;
  };
  /** Rows that hold something erased are not patched: all begin anew. */
  const destroyRows = async (): Promise<void> => {
    if (store.destroy === undefined) throw fail('E_NOT_ERASABLE', 'these rows cannot be destroyed');
    await store.destroy();
    opened.clear();
    clearCaches(context);
    clearCaches(behindContext);
    payloads.clear();
  };
  let wasPromoted = false;
  /** The generation that was current when somebody last asked. */
  let latest: Generation | undefined;
  /** The current generation, if this version's read models wrote it. */
  const findCurrent = async (): Promise<Generation | undefined> => {
    const known = await currentName(store, group, signature);
    if (known === undefined) return undefined;
    wasPromoted = true;
    return (latest = await open(known));
  };
  /** The current generation; the next one while rows of another version are still current. */
  const generation = async (): Promise<Generation> => {
    const found = await findCurrent();
    if (found !== undefined) return found;
    const current = await store.current(group);
    const [unfinished] = await unfinishedNames(store, signature, current);
    return open(unfinished ?? (await nextName(store, signature, current)));
  };
  const readOnce = async <T>(fn: (view: GenerationView) => T): Promise<T> => {
    const reading = (view: GenerationView, name: string): T => {
      const counted = checkCounts(view, name);
      return fn(modelOf.size === 0 ? counted : viewOnDemand(counted, modelOf));
    };
    const known = latest;
    if (known?.readIfCurrent !== undefined) {
      try {
        const found = await known.readIfCurrent(group, (view) => reading(view, known.name));
        if (found !== undefined) return found.value;
      } catch (error) {
        throw inGeneration(error, known.name);
      }
    }
    const first = await findCurrent();
    // Another process has thrown damaged rows away: what is being built is no answer yet.
    if (first === undefined && wasPromoted) {
      wasPromoted = false;
      for (const partition of partitions) await catchUpPartition(partition);
    }
    // Awaited here, as a promise that is only handed on takes two turns more.
    return await readCurrent(first ?? (await generation()), generation, reading);
  };
  const repair = openRepair({
    rebuild: async (damage) => {
      const name = String(damage.detail['generation'] ?? '');
      if (!(await store.discard(name))) return;
      damaged?.(damage);
      opened.clear();
      await rebuild();
    },
    ...(repairTimeout !== undefined && { timeout: repairTimeout }),
  });
  const unfolded = fetching(UNFOLDED, async (needs) => {
    for (const { history, model } of needs) await foldAsked(history, [model]);
  });
  const read = <T>(fn: (view: GenerationView) => T): Promise<T> => {
    const reading = (): Promise<T> => repair.run(() => readOnce(fn));
    return modelOf.size === 0 ? reading() : resume(reading, unfolded);
  };

  const payloads = openPayloads({
    log,
    contents,
    frameAt: (history, seq) => read((view) => findFrame(view, history, seq, keepFrames)),
    framesAt: (history, from, count) => read((view) => findFrames(view, history, from, count, keepFrames)),
  });
  const branchCache = openBranchCache(options.cacheBytes);
  const context: FoldContext = {
    models,
    onDemand,
    eager,
    isCounted,
    contents,
    decoded,
    branchCache,
    payloads,
    keepFrames,
    pause: options.pause,
  };
  const behindContext: FoldContext = {
    ...context,
    branchCache: openBranchCache(Math.ceil(options.cacheBytes / 4)),
  };
  const partitions = Array.from({ length: log.partitions }, (_, partition) => partition);
  const queues = new Map<number, Promise<unknown>>();

  /** Of each generation, the reader of each partition. */
  const readers = new WeakMap<Generation, RevalidatingReader[]>();
  const readersOf = (generation: Generation): RevalidatingReader[] => {
    const known =
      readers.get(generation) ?? partitions.map((partition) => openRevalidatingReader(log, partition));
    readers.set(generation, known);
    return known;
  };

  /** Runs work of one partition in sequence. */
  const enqueue = <T>(partition: number, work: () => Promise<T>): Promise<T> => {
    const before = queues.get(partition) ?? Promise.resolve();
    const mine = before.then(work, work);
    queues.set(
      partition,
      mine.catch(() => undefined),
    );
    return mine;
  };

  const followed = openFollowed(now);

  const runUntilCommitted = async (
    partition: number,
    target: () => Promise<Generation>,
    fresh: FoldContext,
    {
      trustKnown = false,
      until,
    }: { readonly trustKnown?: boolean; readonly until?: number | undefined } = {},
  ): Promise<Progress> => {
    const round = progressGuard(`others move the rows of partition ${partition}`);
    for (;;) {
      const generation = await target();
      const workers = workersFor({
        workers: options.workers,
        store,
        generation,
        log,
        context: fresh,
        limits,
        cacheBytes: options.cacheBytes,
      });
      try {
        return await runPartition({
          log,
          generation,
          context: fresh,
          partition,
          trustKnown,
          reader: readersOf(generation)[partition] ?? openRevalidatingReader(log, partition),
          limits,
          now,
          workers,
          committed: (at) => progress?.(at),
          ...(stop && { stop }),
          ...(until !== undefined && { until }),
        });
      } catch (error) {
        clearCaches(fresh);
        followed.forget();
        if (isStemmaError(error, 'E_ROWS_ERASED')) {
          await destroyRows();
          continue;
        }
        if (!isStemmaError(error, 'E_CURSOR_MOVED')) throw inGeneration(error, generation.name);
        round(`${generation.name} ${(await readCheckpoint(generation, partition))?.cursor.offset ?? 0}`);
      } finally {
        await workers?.close();
      }
    }
  };

  const shortRuns =
    shortRunsAfter === undefined
      ? undefined
      : openShortRuns({
          after: shortRunsAfter,
          store,
          log,
          contents,
          context,
          limits,
          cacheBytes: options.cacheBytes,
          committed: (at) => progress?.(at),
          begun: () => decoded?.stop(),
        });
  const isFoldedApart = async (partition: number): Promise<boolean> => {
    const found = shortRuns === undefined ? undefined : await findCurrent();
    return found !== undefined && (await shortRuns?.run(found, partition)) === true;
  };

  const catchUpPartition = (partition: number): Promise<void> =>
    enqueue(partition, async () => {
      if (await isFoldedApart(partition)) return;
      // To the end as it is now: where much is written a run would never come to the last record.
      const until = log.isRemote === true ? undefined : await log.end(partition);
      const run = await runUntilCommitted(partition, generation, context, { until });
      const target = await generation();
      shortRuns?.foldedHere(run, target);
      const { name } = target;
      const current = await store.current(group);
      if (current === name) followed.found(target);
      // Two versions may run side by side while one replaces the other: the rows of the later one stay current.
      if (current === name || (current !== null && isLater(current, name))) return;
      if (await promote(store, group, name, log)) await dropReplaced(store, name);
    });

  /** The same for one that follows: between two looks at what is current it asks for nothing that it knows. */
  const followOn = (partition: number): Promise<void> => {
    const target = async (): Promise<Generation> => followed.generation() ?? generation();
    return followed.generation() === undefined
      ? catchUpPartition(partition)
      : enqueue(partition, async () => {
          await runUntilCommitted(partition, target, context, { trustKnown: true });
        });
  };

  /** Folds what these models lack of a history, in batches: in between others have a turn. */
  const foldAsked = async (history: string, asked: readonly ReadModel[]): Promise<void> => {
    const partition = partitionOf(history, log.partitions);
    const batch = async (): Promise<boolean> =>
      foldOnDemand({
        generation: await generation(),
        context: behindContext,
        partition,
        history,
        models: asked,
        limits,
        now,
      });
    while (!(await repair.run(() => enqueue(partition, batch))))
      if (stop?.() === true) throw fail('E_CANCELLED', 'the rows were closed while they were folded');
  };

  const catchUpOnce = async (partition?: number): Promise<void> => {
    if (await hasRestoredContent(await readOnce((view) => view.range(DEFECTS, { prefix: [] })), contents))
      await rebuild();
    for (const each of partition === undefined ? partitions : [partition]) await catchUpPartition(each);
  };

  const rebuild = async (): Promise<void> => {
    // From a log that is not all there rows would come that lack what the old ones have.
    await log.checkIntact?.();
    const old = await store.current(group);
    for (const name of await unfinishedNames(store, signature, old)) await store.drop(name);
    const name = await nextName(store, signature, old);
    // Asked for again each time: the store may begin anew.
    const next = (): Promise<Generation> => open(name);
    const fresh: FoldContext = {
      ...context,
      decoded: undefined,
      branchCache: openBranchCache(options.cacheBytes),
      payloads: openPayloads({
        log,
        contents,
        frameAt: async (history, seq) =>
          (await next()).read((view) => findFrame(view, history, seq, keepFrames)),
        framesAt: async (history, from, count) =>
          (await next()).read((view) => findFrames(view, history, from, count, keepFrames)),
      }),
    };
    const round = progressGuard('the rows are rebuilt');
    for (;;) {
      for (const partition of partitions) await runUntilCommitted(partition, next, fresh);
      if (await promote(store, group, name, log)) break;
      if (stop?.() === true) throw fail('E_CANCELLED', 'the rows were closed while they were rebuilt');
      round([...(await store.cursors(name))].map(([at, cursor]) => `${at}@${offsetOf(cursor)}`).join());
    }
    clearCaches(context);
    clearCaches(behindContext);
    payloads.clear();
    if (old !== null && !isLater(old, name)) await store.drop(old);
    await dropReplaced(store, name);
  };

  const catchUp = catchUpForAll((partition) => repair.run(() => catchUpOnce(partition)));

  const checkpoint = (partition: number): Promise<Checkpoint | undefined> =>
    repair.run(async () => readCheckpoint(await generation(), partition));

  const followPartition = async (
    partition: number,
    signal: AbortSignal,
    discards: Discards,
  ): Promise<void> => {
    const known = async (at: number) => followed.checkpoint(at) ?? checkpoint(at);
    const waitForMore = moreRecords(log, partition, known);
    while (!signal.aborted) {
      const began = now();
      const before = discards.count();
      await repair.run(() => followOn(partition));
      const took = followed.generation() === undefined ? 0 : now() - began;
      await gather(took, () => discards.during(before, signal, waitForMore), signal, now);
    }
  };

  const lacking = async (history: string, model: ReadModel): Promise<number> =>
    onDemand.includes(model) ? repair.run(() => readOnce((view) => countUnfolded(view, history, model))) : 0;

  return {
    read,
    lacking,
    partitions: log.partitions,
    generation,
    payloads,
    checkpoint,
    catchUp,
    rebuild: () => repair.run(() => withYoungRows(rebuild)),
    close: async () => shortRuns?.close(),
    scan: (fn) =>
      repair.run(async () => {
        const scanned = await generation();
        try {
          return await scanned.scan((scan) => fn(scan, tables));
        } catch (error) {
          throw inGeneration(error, scanned.name);
        }
      }),
    options: { ...options, contents },
    async onDemand() {
      const asked = new Map<string, Set<string>>();
      if (onDemand.length === 0) return asked;
      await repair.run(async () =>
        (await generation()).scan(async (scan) => {
          for await (const { key } of scan.entries(ON_DEMAND)) {
            const [history, model] = key;
            asked.set(history, (asked.get(history) ?? new Set()).add(model));
          }
        }),
      );
      for (const [history, names] of asked)
        await foldAsked(
          history,
          onDemand.filter(({ name }) => names.has(name)),
        );
      return asked;
    },
    async follow(signal, some = partitions) {
      const failed = new AbortController();
      const either = anySignal([signal, failed.signal]);
      const discards = noticeDiscards(store, either, followed);
      // The first failure ends the others, so that nothing of this call runs after it.
      const following = some.map((partition) =>
        followPartition(partition, either, discards).catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      );
      const ended = await Promise.allSettled(following);
      const wrong = ended.find((each) => each.status === 'rejected');
      if (wrong !== undefined) throw wrong.reason;
    },
    async waitFor({ partition, offset }, signal) {
      const waitForMore = moreRecords(log, partition, checkpoint);
      for (;;) {
        if (((await checkpoint(partition))?.cursor.offset ?? -1) >= offset) return;
        if (signal.aborted) throw fail('E_CANCELLED', `the rows have not reached ${partition}@${offset} yet`);
        await repair.run(() => catchUpPartition(partition));
        const at = await checkpoint(partition);
        if ((at?.cursor.offset ?? -1) >= offset) return;
        if (isClosed(at))
          throw fail('E_PARTITION_CLOSED', `a damaged record closes partition ${partition}`, { partition });
        await waitForMore(signal);
      }
    },
  };
};

/** The read models that are folded with every frame, and those that are folded on demand. */
const splitOnDemand = (
  models: readonly ReadModel[],
  eager: Required<ProjectorOptions>['eager'],
): readonly [readonly ReadModel[], readonly ReadModel[]] => {
  const isEager = (model: ReadModel): boolean => eager === 'all' || model.onDemand !== true;
  return [models.filter(isEager), models.filter((model) => !isEager(model))];
};
