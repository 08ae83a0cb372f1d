import type { PayloadSource } from '@stemma/context-tree';
import type { AppliedFrame } from '@stemma/history';
import type { Rows, Table } from '@stemma/row-store';

/**
 * A pure fold of events into rows: the same frames give the same rows, in any batches. It reads only its own tables.
 * Raise `version` when the fold writes other rows than before; they are then rebuilt beside the old ones, never
 * patched. Only columns named `at` may depend on the clock, and no compared table may depend on offsets in the log.
 *
 * What events of earlier frames brought it reads from `payload`, which throws Missing until it was fetched: then the
 * fold is called again, and what it wrote is dropped.
 */
export type Fold = {
  readonly name: string;
  readonly version: number;
  readonly tables: readonly Table[];
  fold(frame: AppliedFrame, rows: Rows, payload: PayloadSource): void;
  /** For frames of observations, which belong to no branch: `fold` does not get them. */
  observe?(frame: AppliedFrame, rows: Rows): void;
};

/** Folds a frame into the rows of one fold. */
export const foldFrame = (model: Fold, frame: AppliedFrame, rows: Rows, payload: PayloadSource): void => {
  if (frame.observed) model.observe?.(frame, rows);
  else model.fold(frame, rows, payload);
};
