import { fail, isStemmaError } from '@stemma/errors';

/** What `read` gives; records that make no tree are rows of which some are missing: frames were checked before. */
export const asTree = <T>({ history, branchId, seq }: RowsAt, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw isStemmaError(error, 'E_HISTORY_DEFECTIVE') ? rowsDiffer(history, branchId, seq) : error;
  }
};

type RowsAt = { readonly history: string; readonly branchId: number; readonly seq: number };

/** The rows of a position are not those that its sum or its hash was computed of. */
export const rowsDiffer = (history: string, branchId: number, seq: number): Error =>
  fail(
    'E_ROWS_DAMAGED',
    `the rows of ${history} at frame ${seq} are not those that were written: some are missing`,
    { history, branchId, seq },
  );
