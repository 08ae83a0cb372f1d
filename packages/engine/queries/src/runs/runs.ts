import { fail } from '@stemma/errors';
import type { Projection } from '@stemma/projector';
import { findBranch, findPoolRun, listOpenRuns, listPoolRuns, type PoolRunRow } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { readOf } from '../catch-up-with.ts';

/** A run of a pool that somebody asked for. */
export type RequestedRun = PoolRunRow & {
  /** A rollback left its branch. */
  readonly isAbandoned: boolean;
};

/** The runs of pools that somebody asked for. */
export type RequestedRuns = {
  /** Those of a history, or of all, in the order in which they were asked for. */
  list(history?: string): Promise<readonly RequestedRun[]>;
  /** Those that are not over; for who asks often: it costs the same however many others there are. */
  open(): Promise<readonly RequestedRun[]>;
  /** @throws E_RUN_NOT_FOUND */
  find(history: string, run: string): Promise<RequestedRun>;
};

export const openRequestedRuns = (projection: Projection): RequestedRuns => ({
  list: async (history) => {
    const read = (rows: RowReader): readonly RequestedRun[] =>
      listPoolRuns(rows, history).map((run) => withBranch(rows, run));
    if (history !== undefined) return readOf(projection, history, read);
    await projection.catchUp();
    return projection.read(read);
  },
  open: async () => {
    await projection.catchUp();
    return projection.read((rows) => listOpenRuns(rows).map((run) => withBranch(rows, run)));
  },
  find: async (history, run) => {
    const found = await readOf(projection, history, (rows) => {
      const row = findPoolRun(rows, history, run);
      return row && withBranch(rows, row);
    });
    if (found !== undefined) return found;
    throw fail('E_RUN_NOT_FOUND', `nobody asked for a run ${run.slice(0, 200)} in this history`, { run });
  },
});

const withBranch = (rows: RowReader, run: PoolRunRow): RequestedRun => ({
  ...run,
  isAbandoned: (findBranch(rows, run.history, run.branchId)?.abandonedBy ?? null) !== null,
});
