import { fail } from '@stemma/errors';
import { progressGuard } from '@stemma/log';
import type { Generation } from '@stemma/row-store';
import { openBranchCache } from './branch-cache.ts';
import type { CurrentGeneration } from './current-generation.ts';
import type { FoldContext } from './fold-frame.ts';
import { framesInRows } from './frames-in-rows.ts';
import {
  dropReplaced,
  dropUnlessCurrent,
  isLater,
  nextName,
  offsetOf,
  promote,
  unfinishedNames,
} from './generations.ts';
import type { Resolved } from './options.ts';
import type { PartitionRuns } from './partition-runs.ts';
import { openPayloads } from './payloads.ts';

export type RebuildOptions = Resolved & {
  readonly current: CurrentGeneration;
  readonly context: FoldContext;
  readonly runs: PartitionRuns;
  /** Called when other rows are current. */
  readonly forgetRows: () => void;
};

/** Builds rows beside the old ones from the first record on, and switches to them when they are as far. @throws E_LOG_MISMATCH, E_CANCELLED */
export const rebuildRows = async (options: RebuildOptions): Promise<void> => {
  const { log, store, contents, group, signature, keepFrames, current, context, partitions } = options;
  // From a log that is not all there rows would come that lack what the old ones have.
  await log.checkIntact?.();
  // Listed once, and before: what another process promotes between the two answers is current, not unfinished.
  const names = await store.generations();
  const old = await store.current(group);
  for (const unfinished of unfinishedNames(names, signature, old)) await dropUnlessCurrent(store, unfinished);
  const name = nextName(names, signature, old);
  // Asked for again each time: the store may begin anew.
  const next = (): Promise<Generation> => current.open(name);
  const fresh: FoldContext = {
    ...context,
    decoded: undefined,
    branchCache: openBranchCache(options.cacheBytes),
    payloads: openPayloads({
      log,
      contents,
      ...framesInRows(async (fn) => (await next()).read(fn), keepFrames),
    }),
  };
  const round = progressGuard('the rows are rebuilt');
  for (;;) {
    for (const partition of partitions) await options.runs.run(partition, next, fresh);
    if (await promote(store, group, name, log)) break;
    if (options.stop?.() === true) throw fail('E_CANCELLED', 'the rows were closed while they were rebuilt');
    round([...(await store.cursors(name))].map(([at, cursor]) => `${at}@${offsetOf(cursor)}`).join());
  }
  options.forgetRows();
  if (old !== null && !isLater(old, name)) await store.drop(old);
  await dropReplaced(store, name);
};
