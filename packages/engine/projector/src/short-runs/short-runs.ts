import type { ContentSource, EventLog, ReadBatch } from '@stemma/log';
import { READ_MODELS } from '@stemma/read-models';
import type { Generation, RowStore } from '@stemma/row-store';
import { clearCaches, readCheckpoint, type BatchLimits, type Progress } from '../run-partition.ts';
import type { FoldContext } from '../fold-frames.ts';
import { sentRecords } from '../run-thread/sent-log.ts';
import { startRunThread, type RunThread } from '../run-thread/start-run-thread.ts';

/** Runs of a few records each that a thread of their own folds and commits, so that nobody here waits for a fold. */
export type ShortRuns = {
  /** A short run was folded here: after some of them the thread is started. */
  readonly foldedHere: (run: Pick<Progress, 'frames' | 'events'>, generation: Generation) => void;
  /** True when the rows have what was in the partition when this was called; false: the caller has to fold it. */
  readonly run: (generation: Generation, partition: number) => Promise<boolean>;
  readonly close: () => Promise<void>;
};

export type ShortRunsOptions = {
  /** Frames and events, all together, after which the thread is started. */
  readonly after: number;
  readonly store: RowStore;
  readonly log: EventLog;
  readonly contents: ContentSource;
  readonly context: FoldContext;
  readonly limits: BatchLimits;
  readonly cacheBytes: number;
  readonly committed: (progress: Progress) => void;
  /** Told when the thread folds: nothing is folded here any more, as long as nothing is unusual. */
  readonly begun: () => void;
};

/** More than so many bytes, in about so many frames, are folded by the caller, who has more threads for them. */
const LONG_RUN = { bytes: 16 * 1024 * 1024, frames: 4_000 };

/** @param batch the first records of the run, which begins at `from` */
const isLong = ({ records, next }: ReadBatch, from: number, until: number): boolean =>
  until - from > LONG_RUN.bytes && (until - from) * records.length >= LONG_RUN.frames * (next - from);
/** Threads that were started and have ended: then something is wrong with them. */
const MOST_STARTS = 3;

/** Short runs in a thread; undefined where it could not read the rows, its read models or the log. */
export const openShortRuns = (options: ShortRunsOptions): ShortRuns | undefined => {
  const { after, store, log, contents, context, limits, cacheBytes } = options;
  if (store.address === undefined || log.isRemote === true) return undefined;
  // The thread finds read models by name.
  const models = [...context.models, ...context.onDemand];
  if (!models.every((model) => READ_MODELS.includes(model))) return undefined;
  const address = store.address.bind(store);
  let thread: RunThread | undefined;
  let rows: ReturnType<typeof address> | undefined;
  let begun = false;
  let closed = false;
  let sum = 0;
  let starts = 0;
  /** The offsets of the rows, as the thread left them. */
  const offsets = new Map<number, number>();

  const start = (generation: Generation): void => {
    starts++;
    rows = address(generation.name, true);
    thread = startRunThread(
      {
        rows,
        models: models.map(({ name }) => name),
        onDemand: context.onDemand.map(({ name }) => name),
        keepFrames: context.keepFrames,
        limits,
        log: { id: log.id, partitions: log.partitions },
        cacheBytes,
        foldThreads: 0,
      },
      { log, contents, committed: options.committed },
    );
  };
  /** The rows are others now: a thread for those is started when some more was folded here. */
  const retire = async (): Promise<void> => {
    const old = thread;
    thread = undefined;
    rows = undefined;
    begun = false;
    sum = 0;
    offsets.clear();
    await old?.close();
  };
  const areStillThese = (generation: Generation): boolean =>
    rows?.generation === generation.name && rows.file === address(generation.name).file;

  return {
    foldedHere({ frames, events }, generation) {
      sum += frames + events;
      if (thread === undefined && sum >= after && starts < MOST_STARTS && !closed) start(generation);
    },
    async run(generation, partition) {
      if (thread === undefined) return false;
      if (thread.state() === 'ended' || !areStillThese(generation)) {
        await retire();
        return false;
      }
      if (thread.state() === 'opening') return false;
      if (!begun) {
        begun = true;
        clearCaches(context);
        options.begun();
      }
      const until = await log.end(partition);
      const known = offsets.get(partition);
      const from = known ?? (await readCheckpoint(generation, partition))?.cursor.offset;
      if (from === until) return true;
      if (from === undefined || from > until) return false;
      offsets.delete(partition);
      const epoch = log.epoch?.(partition) ?? 0;
      const batch = await log.read(partition, from);
      // What was written since its last run is the thread's, however much it is: others would begin anew beside the commands.
      if (known === undefined && isLong(batch, from, until)) return false;
      const isSealed = ({ key }: (typeof batch.records)[number]): boolean =>
        key !== null && contents.sealer?.seals(key) === true;
      if (batch.records.some(isSealed)) return false;
      const first = sentRecords(batch, from, epoch);
      const offset = await thread.run({ partition, until, first });
      if (offset === null || offset < until || !areStillThese(generation)) return false;
      offsets.set(partition, offset);
      return true;
    },
    async close() {
      closed = true;
      await retire();
    },
  };
};
