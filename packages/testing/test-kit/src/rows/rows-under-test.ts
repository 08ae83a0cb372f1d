import type { AppliedFrame } from '@stemma/history';
import { foldFrame } from '@stemma/history-store';
import { FOLDS_AT_ONCE } from './folds-at-once.ts';
import { openMemoryRowStore, stageRows, type MemoryGeneration, type RowChange } from '@stemma/row-store';
import { foldedPayloads } from './folded-payloads.ts';

/** All read models over memory rows, a batch a frame. */
export type RowsUnderTest = {
  readonly rows: MemoryGeneration;
  readonly fold: (frame: AppliedFrame) => void;
  readonly writes: RowChange[][];
};

export const rowsUnderTest = (): RowsUnderTest => {
  const rows = openMemoryRowStore().rows(
    'test',
    FOLDS_AT_ONCE.flatMap(({ tables }) => tables),
  );
  const writes: RowChange[][] = [];
  const payloadsOf = foldedPayloads();
  return {
    rows,
    writes,
    fold(frame) {
      const staged = rows.now((view) => stageRows(view));
      for (const model of FOLDS_AT_ONCE) foldFrame(model, frame, staged, payloadsOf(frame));
      const cursor = rows.now((view) => view.cursor(0));
      writes.push(staged.changes());
      void rows.commit({
        partition: 0,
        expected: cursor,
        cursor: Uint8Array.of(frame.seq & 255, frame.seq >> 8),
        changes: staged.changes(),
      });
    },
  };
};
