import { clearCaches, type PartitionRun, type Progress, readCheckpoint } from '@stemma/projector';
import type { ReadBatch } from '@stemma/log';
import type { Generation, RowsAddress } from '@stemma/row-store';
import { sentRecords } from './run-thread/sent-log.ts';
import { startRunThread, type RunThread } from './run-thread/start-run-thread.ts';
import { sendableModels } from './sent-models.ts';

/** Runs of a few records each that a thread of their own folds and commits, so that nobody here waits for a fold. */
export type ShortRuns = {
  /** A short run was folded here: after some of them the thread is started, where it can read the rows, the read models and the log. */
  readonly foldedHere: (run: Pick<Progress, 'frames' | 'events'>, of: PartitionRun) => void;
  /** True when the rows have what the log had when this was called; false: the caller has to fold it. */
  readonly run: (run: PartitionRun) => Promise<boolean>;
  readonly close: () => Promise<void>;
};

/** More than so many bytes, in about so many frames, are folded by the caller, who has more threads for them. */
const LONG_RUN = { bytes: 16 * 1024 * 1024, frames: 4_000 };

/** @param batch the first records of the run, which begins at `from` */
const isLong = ({ records, next }: ReadBatch, from: number, until: number): boolean =>
  until - from > LONG_RUN.bytes && (until - from) * records.length >= LONG_RUN.frames * (next - from);
/** Threads that were started and have ended: then something is wrong with them. */
const MOST_STARTS = 3;

/** The thread, and what is known of it. */
type Started = {
  readonly thread: RunThread;
  readonly rows: RowsAddress;
  /** It has folded: nothing is folded here any more, as long as nothing is unusual. */
  begun: boolean;
  /** The offsets of the rows, as the thread left them. */
  readonly offsets: Map<number, number>;
};

/** @param after frames and events, all together, after which the thread is started */
export const openShortRuns = (after: number): ShortRuns => {
  let started: Started | undefined;
  let closed = false;
  let sum = 0;
  let starts = 0;

  const start = ({ store, log, generation, context, limits, cacheBytes, committed }: PartitionRun): void => {
    const models = sendableModels(context);
    if (models === undefined || log.isRemote === true || store.address === undefined) return;
    starts++;
    const rows = store.address(generation.name, true);
    const thread = startRunThread(
      {
        rows,
        ...models,
        limits,
        log: { id: log.id, partitions: log.partitions },
        cacheBytes,
        foldThreads: 0,
      },
      { log, contents: context.contents, committed },
    );
    started = { thread, rows, begun: false, offsets: new Map() };
  };
  /** The rows are others now: a thread for those is started when some more was folded here. */
  const retire = async (): Promise<void> => {
    const old = started;
    started = undefined;
    sum = 0;
    await old?.thread.close();
  };
  const foldApart = async (run: PartitionRun, { thread, offsets, rows }: Started): Promise<boolean> => {
    const { log, generation, context, partition } = run;
    const until = run.until ?? (await log.end(partition));
    const known = offsets.get(partition);
    const from = known ?? (await readCheckpoint(generation, partition))?.cursor.offset;
    if (from === until) return true;
    if (from === undefined || from > until) return false;
    offsets.delete(partition);
    const epoch = log.epoch?.(partition) ?? 0;
    const batch = await log.read(partition, from);
    // What was written since its last run is the thread's, however much it is: others would begin anew beside the commands.
    if (known === undefined && isLong(batch, from, until)) return false;
    const { sealer } = context.contents;
    if (batch.records.some(({ key }) => key !== null && sealer?.seals(key) === true)) return false;
    const offset = await thread.run({ partition, until, first: sentRecords(batch, from, epoch) });
    if (offset === null || offset < until || !areRowsOf(rows, run)) return false;
    offsets.set(partition, offset);
    return true;
  };

  return {
    foldedHere({ frames, events }, of) {
      sum += frames + events;
      if (started === undefined && sum >= after && starts < MOST_STARTS && !closed) start(of);
    },
    async run(run) {
      const known = started;
      if (known === undefined) return false;
      if (known.thread.state() === 'ended' || !areRowsOf(known.rows, run)) {
        await retire();
        return false;
      }
      if (known.thread.state() === 'opening') return false;
      if (!known.begun) {
        known.begun = true;
        clearCaches(run.context);
        run.context.decoded?.stop();
      }
      return foldApart(run, known);
    },
    async close() {
      closed = true;
      await retire();
    },
  };
};

const areRowsOf = (
  rows: RowsAddress,
  { store, generation }: { readonly store: PartitionRun['store']; readonly generation: Generation },
): boolean => rows.generation === generation.name && rows.file === store.address?.(generation.name).file;
