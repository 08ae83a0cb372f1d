import type { ContentSource, EventLog } from '@stemma/log';
import type { RowsAddress, RowSource, Table } from '@stemma/row-store';
import { openBranchCache } from '../branch-cache.ts';
import type { FoldContext } from '../fold-frames.ts';
import type { FoldWorkerOptions } from './messages.ts';
import { openPartFolder, type FoldedPart, type FramePart } from './part-folder.ts';
import { startFoldWorker, type FoldWorker } from './start-fold-worker.ts';

/** Several threads that fold, each the histories that were given to it, and this one for those that they cannot read. */
export type FoldWorkers = {
  /** Threads besides this one. */
  readonly count: number;
  /** Resolves when all can fold. @throws E_INTERNAL if one has ended */
  readonly opened: Promise<void>;
  /**
   * The rows of a checked window, of each thread; undefined if it is to be folded by the caller. @throws E_INTERNAL if a thread ends
   */
  fold(window: Omit<FramePart, 'eager'>): Promise<readonly FoldedPart[] | undefined>;
  committed(window: number): void;
  /** Forgets what is not committed. What was asked for before is undefined. */
  reset(): void;
  close(): Promise<void>;
};

export type FoldWorkersOptions = {
  readonly count: number;
  readonly rows: RowsAddress;
  readonly log: EventLog;
  readonly context: FoldContext;
  readonly contents: ContentSource;
  readonly tables: readonly Table[];
  /** The committed rows, for histories that are folded here. */
  readonly source: () => RowSource;
  readonly cacheBytes: number;
};

/** Bytes of frames to cache, in all threads together. */
const FRAME_BYTES = 32 * 1024 * 1024;
/** A history beyond so many is given to a thread by its name, and not remembered. */
const MOST_HISTORIES = 100_000;

export const startFoldWorkers = (options: FoldWorkersOptions): FoldWorkers => {
  const { count, context, contents, tables, source, log, rows, cacheBytes } = options;
  const started: FoldWorkerOptions = {
    rows,
    models: [...context.models, ...context.onDemand].map(({ name }) => name),
    onDemand: context.onDemand.map(({ name }) => name),
    tables: tables.map(({ name }) => name),
    keepFrames: context.keepFrames,
    partitions: log.partitions,
    treeBytes: Math.ceil(cacheBytes / 2 / count),
    frameBytes: Math.ceil(FRAME_BYTES / count),
  };
  const workers: readonly FoldWorker[] = Array.from({ length: count }, () =>
    startFoldWorker(started, { log, contents }),
  );
  // For sealed histories: their keys stay in this thread.
  const here = openPartFolder({
    context: { ...context, decoded: undefined, branchCache: openBranchCache(Math.ceil(cacheBytes / 8)) },
    tables,
    rows: source,
  });
  let folding: Promise<unknown> = Promise.resolve();
  let run = 0;
  const foldHere = (part: FramePart): Promise<FoldedPart | undefined> => {
    const of = run;
    const mine = folding.then(async () => {
      if (of !== run) return undefined;
      try {
        const folded = await here.fold(part);
        return folded.counts.defects > 0 ? undefined : folded;
      } catch {
        // Whoever asked folds it once more, and meets the error.
        return undefined;
      }
    });
    folding = mine;
    return mine;
  };

  const opened = Promise.all(workers.map((worker) => worker.opened)).then(() => undefined);
  opened.catch(() => undefined);

  /** Bytes of frames that a thread has been given and has not folded. */
  const load = workers.map(() => 0);
  const places = new Map<string, number>();
  const placeOf = (history: string): number => {
    const known = places.get(history);
    if (known !== undefined) return known;
    if (contents.sealer?.seals(history) === true) return count;
    if (places.size >= MOST_HISTORIES) return numberOf(history) % count;
    const place = load.indexOf(Math.min(...load));
    places.set(history, place);
    return place;
  };

  return {
    count,
    opened,
    async fold({ window, accepted, heads }) {
      const parts = Array.from({ length: count + 1 }, () => ({
        accepted: [] as FramePart['accepted'][number][],
        heads: new Map() as Map<string, NonNullable<ReturnType<FramePart['heads']['get']>>>,
        eager: new Map<string, string[]>(),
        bytes: 0,
      }));
      // Control frames are no history's.
      let control = 0;
      let controlBytes = 0;
      for (const frame of accepted) {
        if (frame.control) {
          control++;
          controlBytes += frame.bytes.length;
          continue;
        }
        const place = placeOf(frame.envelope.history);
        const part = parts[place] as (typeof parts)[number];
        part.accepted.push(frame);
        part.bytes += frame.bytes.length;
        if (place < count) load[place] = (load[place] as number) + frame.bytes.length;
      }
      for (const [history, head] of heads) {
        const part = parts[placeOf(history)] as (typeof parts)[number];
        part.heads.set(history, head);
        const eager = context.onDemand.filter(({ name }) => context.eager(history, name));
        if (eager.length > 0)
          part.eager.set(
            history,
            eager.map(({ name }) => name),
          );
      }
      const folded = await Promise.all(
        parts.map(async (part, place) => {
          if (part.heads.size === 0 && part.accepted.length === 0) return null;
          const given = { window, ...part };
          if (place === count) return foldHere(given);
          try {
            return await (workers[place] as FoldWorker).fold(given);
          } finally {
            load[place] = (load[place] as number) - part.bytes;
          }
        }),
      );
      if (folded.includes(undefined)) return undefined;
      const counts = { frames: control, events: 0, bytes: controlBytes, defects: 0 };
      const nothing: FoldedPart = { counts, changes: new Uint8Array(0) };
      return [nothing, ...folded.filter((part) => part != null)];
    },
    committed(window) {
      for (const worker of workers) worker.committed(window);
      here.committed(window);
    },
    reset() {
      run++;
      for (const worker of workers) worker.reset();
      folding = folding.then(() => here.reset());
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
};

/** A number that a name always has. */
const numberOf = (name: string): number => {
  let number = 0;
  for (let i = 0; i < name.length; i++) number = (Math.imul(number, 31) + name.charCodeAt(i)) >>> 0;
  return number;
};
