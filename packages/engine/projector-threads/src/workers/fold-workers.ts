import type { ContentSource, EventLog, HeadState } from '@stemma/log';
import type { FoldContext, FoldedCounts } from '@stemma/projector';
import type { SentModels } from '../sent-models.ts';
import type { Generation, RowChange, RowsAddress } from '@stemma/row-store';
import type { FoldWorkerOptions } from './messages.ts';
import type { FoldedPart, FoldedRows, FramePart } from './part-folder.ts';
import { openPartsHere } from './parts-here.ts';
import { openThreadLoads } from './thread-loads.ts';
import { startFoldWorker, type FoldWorker } from './start-fold-worker.ts';

/** Several threads that fold, each the histories that were given to it: this one, others, and whoever has the keys of those that are sealed. */
export type FoldWorkers = {
  /** Threads that fold, this one among them. */
  readonly count: number;
  /** Whether the others can fold. Until then this one folds all, and the rows must be committed before the next window is folded. */
  readonly areOpen: () => boolean;
  /** Resolves when they can. Nobody writes rows before: LMDB opens them meanwhile. @throws E_INTERNAL if one has ended */
  readonly opened: Promise<void>;
  /**
   * The rows of a checked window; undefined if it is to be folded in the projector's thread. @throws E_INTERNAL if a thread ends
   */
  fold(window: Omit<FramePart, 'eager'>): Promise<FoldedWindow | undefined>;
  committed(window: number): Promise<void>;
  /** Forgets what is not committed. What was asked for before is undefined. */
  reset(): void;
  close(): Promise<void>;
};

export type FoldedWindow = {
  readonly counts: Omit<FoldedCounts, 'defects'>;
  /** Rows that this thread has folded. */
  readonly changes: RowChange[];
  /** Those of each of the others, as `encodeChanges` gives them. */
  readonly encoded: readonly Uint8Array[];
};

/** The projector's thread: it has the keys of sealed histories. */
export type SealedFolder = Pick<FoldWorker, 'fold' | 'reset'>;

export type FoldWorkersOptions = {
  /** Threads that fold, this one among them. */
  readonly count: number;
  readonly rows: RowsAddress;
  readonly log: EventLog;
  readonly generation: Generation;
  /** What this thread folds with. */
  readonly context: (caches: FoldCaches) => FoldContext;
  /** Contents, and which histories are sealed. */
  readonly contents: ContentSource;
  /** Folds sealed histories. */
  readonly sealed: SealedFolder;
  readonly cacheBytes: number;
  readonly models: SentModels;
};

/** Bytes of trees and of frames to cache. */
export type FoldCaches = { readonly treeBytes: number; readonly frameBytes: number };

/** Bytes of frames to cache, in all threads together. */
const FRAME_BYTES = 32 * 1024 * 1024;
type MutablePart = {
  readonly accepted: FramePart['accepted'][number][];
  readonly heads: Map<string, HeadState>;
  readonly eager: Map<string, readonly string[]>;
  bytes: number;
};

export const startFoldWorkers = (options: FoldWorkersOptions): FoldWorkers => {
  const { count, contents, generation, sealed, log, rows, cacheBytes } = options;
  const caches: FoldCaches = {
    treeBytes: Math.ceil(cacheBytes / 2 / count),
    frameBytes: Math.ceil(FRAME_BYTES / count),
  };
  const context = options.context(caches);
  const started: FoldWorkerOptions = {
    rows,
    ...options.models,
    tables: generation.tables.map(({ name }) => name),
    partitions: log.partitions,
    ...caches,
  };
  const workers: readonly FoldWorker[] = Array.from({ length: count - 1 }, () =>
    startFoldWorker(started, { log, contents }),
  );
  /** The places behind those of the threads that were started. */
  const [here, sealedPlace] = [workers.length, workers.length + 1];
  let areOpen = workers.length === 0;
  const opened = Promise.all(workers.map((worker) => worker.opened)).then(() => {
    areOpen = true;
  });
  opened.catch(() => undefined);
  const partsHere = openPartsHere(generation, context);

  const loads = openThreadLoads({
    here,
    sealed: sealedPlace,
    isSealed: (history) => contents.sealer?.seals(history) === true,
    areOpen: () => areOpen,
  });
  const foldAt = (place: number, part: FramePart): Promise<FoldedPart | FoldedRows | undefined> => {
    if (place === sealedPlace) return sealed.fold(part);
    return place === here ? partsHere.fold(() => part) : (workers[place] as FoldWorker).fold(part);
  };

  return {
    count,
    areOpen: () => areOpen,
    opened,
    async fold({ window, accepted, heads }) {
      const parts: readonly MutablePart[] = Array.from({ length: sealedPlace + 1 }, () => ({
        accepted: [],
        heads: new Map(),
        eager: new Map(),
        bytes: 0,
      }));
      const counts = { frames: 0, events: 0, bytes: 0, nodesRead: 0 };
      for (const frame of accepted) {
        // Control frames are no history's.
        if (frame.control) {
          counts.frames++;
          counts.bytes += frame.bytes.length;
          continue;
        }
        const place = loads.threadOf(frame.envelope.history);
        const part = parts[place] as MutablePart;
        part.accepted.push(frame);
        part.bytes += frame.bytes.length;
        loads.given(place, frame.bytes.length);
      }
      loads.windowGiven(
        window,
        parts.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      for (const [history, head] of heads) {
        const part = parts[loads.threadOf(history)] as MutablePart;
        part.heads.set(history, head);
        const eager = context.onDemand.filter(({ name }) => context.eager(history, name));
        if (eager.length > 0)
          part.eager.set(
            history,
            eager.map(({ name }) => name),
          );
      }
      const folded = await Promise.all(
        parts.map(async ({ bytes, ...part }, place) => {
          if (part.heads.size === 0 && part.accepted.length === 0) return null;
          try {
            return await foldAt(place, { window, ...part });
          } finally {
            loads.folded(place, bytes);
          }
        }),
      );
      let changes: RowChange[] = [];
      const encoded: Uint8Array[] = [];
      for (const part of folded) {
        if (part === undefined) return undefined;
        if (part === null) continue;
        counts.frames += part.counts.frames;
        counts.events += part.counts.events;
        counts.bytes += part.counts.bytes;
        counts.nodesRead += part.counts.nodesRead;
        if ('encoded' in part) encoded.push(part.encoded);
        else changes = part.changes;
      }
      return { counts, changes, encoded };
    },
    async committed(window) {
      loads.committed(window);
      for (const worker of workers) worker.committed(window);
      await partsHere.committed(window);
    },
    reset() {
      loads.reset();
      for (const worker of workers) worker.reset();
      partsHere.reset();
      sealed.reset();
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
};
