import type { ContentSource, EventLog } from '@stemma/log';
import type { RowsAddress, Table } from '@stemma/row-store';
import type { FoldContext } from '../fold-frames.ts';
import type { FoldWorkerOptions } from './messages.ts';
import type { FoldedPart, FramePart } from './part-folder.ts';
import { startFoldWorker, type FoldWorker } from './start-fold-worker.ts';

/** Several threads that fold, each the histories that were given to it, and whoever has the keys of those that are sealed. */
export type FoldWorkers = {
  /** Threads. */
  readonly count: number;
  /** Resolves when all can fold. @throws E_INTERNAL if one has ended */
  readonly opened: Promise<void>;
  /**
   * The rows of a checked window, of each thread; undefined if it is to be folded in the projector's thread. @throws E_INTERNAL if a thread ends
   */
  fold(window: Omit<FramePart, 'eager'>): Promise<readonly FoldedPart[] | undefined>;
  committed(window: number): void;
  /** Forgets what is not committed. What was asked for before is undefined. */
  reset(): void;
  close(): Promise<void>;
};

/** The projector's thread: it has the keys of sealed histories. */
export type SealedFolder = Pick<FoldWorker, 'fold' | 'reset'>;

export type FoldWorkersOptions = {
  readonly count: number;
  readonly rows: RowsAddress;
  readonly log: EventLog;
  readonly context: Pick<FoldContext, 'models' | 'onDemand' | 'eager' | 'keepFrames'>;
  /** Contents, and which histories are sealed. */
  readonly contents: ContentSource;
  readonly tables: readonly Table[];
  /** Folds sealed histories. */
  readonly sealed: SealedFolder;
  readonly cacheBytes: number;
};

/** Bytes of frames to cache, in all threads together. */
const FRAME_BYTES = 32 * 1024 * 1024;
/** A history beyond so many is given to a thread by its name, and not remembered. */
const MOST_HISTORIES = 100_000;

export const startFoldWorkers = (options: FoldWorkersOptions): FoldWorkers => {
  const { count, context, contents, tables, sealed, log, rows, cacheBytes } = options;
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
          if (place === count) return sealed.fold(given);
          try {
            return await (workers[place] as FoldWorker).fold(given);
          } finally {
            load[place] = (load[place] as number) - part.bytes;
          }
        }),
      );
      if (folded.includes(undefined)) return undefined;
      const counts = { frames: control, events: 0, bytes: controlBytes, nodesRead: 0, defects: 0 };
      const nothing: FoldedPart = { counts, changes: new Uint8Array(0) };
      return [nothing, ...folded.filter((part) => part != null)];
    },
    committed(window) {
      for (const worker of workers) worker.committed(window);
    },
    reset() {
      for (const worker of workers) worker.reset();
      sealed.reset();
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
