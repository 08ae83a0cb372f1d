import { READ_MODELS } from '@stemma/read-models';
import type { EventLog } from '@stemma/log';
import type { Generation, RowStore } from '@stemma/row-store';
import type { FoldContext } from '../fold-frames.ts';
import type { WorkersFor } from '../run-partition.ts';
import { startFoldWorkers, type FoldWorkers } from './fold-workers.ts';

/** How many threads fold, and when they are started. */
export type WorkersOptions = {
  /** Threads besides this one. */
  readonly count: number;
  /**
   * They are started when about so many frames are still to come after a batch: that takes half a second. 0: in every run that
   * has more than one batch. Default 4,000.
   */
  readonly least?: number;
};

const LEAST = 4_000;

/** The threads of one run: started when they are asked for, ended with it. */
export type RunWorkers = WorkersFor & { readonly close: () => Promise<void> };

/** Threads for a run; undefined if they could not read its rows or its read models. */
export const workersFor = (options: {
  readonly workers: WorkersOptions;
  readonly store: RowStore;
  readonly generation: Generation;
  readonly log: EventLog;
  readonly context: FoldContext;
  readonly cacheBytes: number;
}): RunWorkers | undefined => {
  const { workers, store, generation, log, context, cacheBytes } = options;
  if (workers.count < 1 || store.address === undefined) return undefined;
  // Threads find read models by name.
  if (![...context.models, ...context.onDemand].every((model) => READ_MODELS.includes(model)))
    return undefined;
  const address = store.address.bind(store);
  let started: FoldWorkers | undefined;
  return {
    least: workers.least ?? LEAST,
    start: () =>
      (started ??= startFoldWorkers({
        count: workers.count,
        rows: address(generation.name),
        log,
        context,
        contents: context.contents,
        tables: generation.tables,
        source: () => generation.source(),
        cacheBytes,
      })),
    close: async () => started?.close(),
  };
};
