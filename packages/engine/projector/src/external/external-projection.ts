import { fail, isStemmaError } from '@stemma/errors';
import type { ContentSource, EventLog } from '@stemma/log';
import type { GenerationView, RowStore } from '@stemma/row-store';
import { countedAmong, openCountCheck } from '../counts/index.ts';
import { framesInRows } from '../frames-in-rows.ts';
import { MAIN_GROUP } from '../groups.ts';
import { openPayloads } from '../payloads.ts';
import type { Projection } from '../projection.ts';
import { inGeneration } from '../repair.ts';
import { openExternalGeneration } from './external-generation.ts';
import { openReachedOffsets } from './reached-offsets.ts';

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

/**
 * A projection of rows that projectors in other processes write (`stemma projector`). `catchUp` waits until these rows
 * are at the log's end.
 *
 * Its methods throw E_ROWS_BEHIND when the rows do not come in time.
 */
export const openExternalProjection = (options: ExternalProjectionOptions): Projection => {
  const { log, contents, store, catchUpTimeout = 10_000, now = () => performance.now() } = options;
  const { models, keepFrames } = MAIN_GROUP;
  const checkCounts = openCountCheck(countedAmong(models), now);
  const generation = openExternalGeneration(store, now);
  const offsets = openReachedOffsets({ log, store, generation, catchUpTimeout, now });

  const readUntil = async <T>(until: number, fn: (view: GenerationView) => T): Promise<T> => {
    const found = await generation.find();
    const read = await found
      .read((view) =>
        offsets.areLacking(view)
          ? undefined
          : { empty: view.partitions().length === 0, value: fn(checkCounts(view, found.name)) },
      )
      .catch((error: unknown) => {
        throw inGeneration(error, found.name);
      });
    if (read === undefined) {
      await offsets.reachAgain(until);
      return readUntil(until, fn);
    }
    if (!read.empty) return read.value;
    // One without cursors may have been replaced and dropped.
    generation.forget();
    return (await generation.find()).name === found.name ? read.value : readUntil(until, fn);
  };
  /** Damaged rows are not shown, and thrown away: their projector finds nothing then, and builds them again. */
  const read = async <T>(fn: (view: GenerationView) => T): Promise<T> => {
    try {
      return await readUntil(now() + catchUpTimeout, fn);
    } catch (error) {
      if (isStemmaError(error, 'E_ROWS_DAMAGED') && 'generation' in error.detail) {
        generation.forget();
        // Who may only read cannot; the damage is what the caller has to know.
        await store.discard(String(error.detail['generation'])).catch(() => false);
      }
      throw error;
    }
  };

  const { checkpoint, reach, ends } = offsets;
  const partitions = Array.from({ length: log.partitions }, (_, partition) => partition);
  return {
    read,
    isRemote: true,
    partitions: log.partitions,
    checkpoint,
    payloads: openPayloads({ log, contents, ...framesInRows(read, keepFrames) }),
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
