import { listCallLinks } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import type { BranchSummary } from '../read-types.ts';

/** The calls that led to the conversations on the branches of a history. */
export const callersIn = (
  rows: RowReader,
  history: string,
): ReadonlyMap<number, NonNullable<BranchSummary['calledBy']>> =>
  new Map(
    listCallLinks(rows, history).flatMap(({ branchId, parent, why }) =>
      parent === null ? [] : [[branchId, { ...parent, why }] as const],
    ),
  );
