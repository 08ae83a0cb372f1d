import { fail } from '@stemma/errors';
import { HISTORY_HEADS } from '@stemma/history-store';
import { controlOf } from '@stemma/log';
import { listHistories, type HistoryRow } from '@stemma/read-models';
import { listRows, type RowReader } from '@stemma/row-store';

/**
 * Every history whose first frame was good, by id.
 *
 * @throws E_ROWS_DAMAGED if a history has a head and no row, or a row and no head
 */
export const listOpenedHistories = (rows: RowReader): readonly HistoryRow[] => {
  const found = listHistories(rows);
  const unseen = new Set(found.map(({ history }) => history));
  for (const { history, next, state } of listRows(rows, HISTORY_HEADS, {})) {
    if (unseen.delete(history) || state !== null || next === 0 || controlOf(history) !== undefined) continue;
    throw fail('E_ROWS_DAMAGED', `the rows lack the history ${history}`, { history });
  }
  const [lost] = unseen;
  if (lost !== undefined)
    throw fail('E_ROWS_DAMAGED', `the rows lack the head of the history ${lost}`, { history: lost });
  return found;
};
