import { fail } from '@stemma/errors';
import type { Line, Position } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { findLine, lineageIn } from '../find.ts';
import { positionOf } from '../read.ts';

/**
 * The position that people mean with `@c3`, `LINEAGE@c3`, or a lineage alone, by name or number: its working state.
 *
 * @throws E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND, E_LINEAGE_NOT_FOUND, E_HISTORY_NOT_FOUND
 */
export const findPosition = (rows: RowReader, line: Line, text: string): Position => {
  if (text === '' || text.includes('@')) return positionOf(rows, line, text);
  const named = lineageIn(rows, line.history, text) ?? findLine(rows, text);
  if (named.history !== line.history)
    throw fail('E_LINEAGE_NOT_FOUND', `${text} is no lineage of ${line.history}`, { history: line.history });
  return positionOf(rows, named, '');
};
