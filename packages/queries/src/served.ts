import { fail, isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { readFence, type Line, type Position } from '@stemma/history-store';
import type { GenerationView } from '@stemma/row-store';
import { findLine } from './find.ts';
import { positionOf, stateOf } from './read.ts';

/** @throws E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE for a history of which not even the first frame is good */
export const servedLine = (rows: GenerationView, name: string): Line => {
  try {
    return findLine(rows, name);
  } catch (error) {
    if (!isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
    for (const history of [name, historyId(name, '')]) {
      const { state = 'open' } = readFence(rows, history) ?? {};
      if (state !== 'open')
        throw fail(
          state === 'damaged' ? 'E_HISTORY_DAMAGED' : 'E_HISTORY_DEFECTIVE',
          `the history ${JSON.stringify(name)} is ${state} from its first frame on: nothing of it can be served`,
          { history, seq: 0 },
        );
    }
    throw error;
  }
};

/** @throws E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE for what may lie behind the place where the history stops */
export const servedPosition = (rows: GenerationView, line: Line, ref: string): Position => {
  try {
    return positionOf(rows, line, ref);
  } catch (error) {
    const { state, stopped } = stateOf(rows, line.history);
    if (state === 'open' || !isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
    throw fail(
      state === 'damaged' ? 'E_HISTORY_DAMAGED' : 'E_HISTORY_DEFECTIVE',
      `${error.message}: the history is ${state} at seq ${stopped ?? '?'}, and nothing behind it is served`,
      { history: line.history, seq: stopped },
    );
  }
};
