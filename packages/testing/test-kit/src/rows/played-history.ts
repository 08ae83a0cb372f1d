import type { HistoryEvent } from '@stemma/events';
import type { Step } from '@stemma/history';
import { findSnapshot, readPositionMeta, readTipSeq, type Position } from '@stemma/history-store';
import type { Projector } from '@stemma/projector';
import { FOLDS_AT_ONCE } from './folds-at-once.ts';
import { openMemoryRowStore, stageRows, type MemoryGeneration } from '@stemma/row-store';
import { HISTORY, naiveHistory, type NaiveHistory } from '../naive-history.ts';
import { perform, START, type RandomOperation } from '../random-steps.ts';
import { foldedPayloads } from './folded-payloads.ts';
import { payloadsInMemory } from './payloads-in-memory.ts';

/** A history of random acts with its rows, and as much of a projector as questions read. */
export type Played = {
  readonly history: NaiveHistory;
  readonly rows: MemoryGeneration;
  readonly projector: Projector;
  readonly positionAt: (branchId: number, seq: number) => Position;
};

export const play = (operations: readonly RandomOperation[], start: Step = START): Played => {
  const rows = openMemoryRowStore().rows(
    'test',
    FOLDS_AT_ONCE.flatMap(({ tables }) => tables),
  );
  const payloadsOf = foldedPayloads();
  const history = naiveHistory((frame) => {
    const staged = rows.now((view) => stageRows(view));
    for (const model of FOLDS_AT_ONCE) model.fold(frame, staged, payloadsOf(frame));
    void rows.commit({
      partition: 0,
      expected: rows.now((view) => view.cursor(0)),
      cursor: Uint8Array.of(frame.seq & 255, frame.seq >> 8),
      changes: staged.changes(),
    });
  });
  history.run(0, [start]);
  for (const action of operations) perform(history, action);
  const events = (seq: number): readonly HistoryEvent[] => history.frames[seq]?.body.events ?? [];
  const projector = {
    read: (fn: Parameters<Projector['read']>[0]) => rows.now(fn),
    payloads: payloadsInMemory(events),
  } as unknown as Projector;
  const positionAt = (branchId: number, seq: number): Position =>
    rows.now((view) => {
      const at = Math.min(seq, readTipSeq(view, HISTORY, branchId));
      const { cycle } = readPositionMeta(view, HISTORY, branchId, at).meta;
      const committed = findSnapshot(view, HISTORY, branchId, at, cycle)?.seq === at;
      return {
        history: HISTORY,
        branchId,
        seq: at,
        cycle: committed || cycle > 0 ? cycle : null,
        committed,
        label: committed ? `@c${cycle}` : `@s${at}`,
        branch: HISTORY,
      };
    });
  return { history, rows, projector, positionAt };
};

/** The frames that count at a position, oldest first, by the definition of branches alone. */
export const framesOf = ({ history }: Played, branchId: number, seq: number): NaiveHistory['frames'] => {
  const { parent, at } = history.branches.get(branchId) ?? { parent: null, at: 0 };
  const before = parent === null ? [] : framesOf({ history } as Played, parent, Math.min(seq, at));
  const own = history.frames.filter(
    ({ envelope, body }) => body.branchId === branchId && envelope.seq <= seq,
  );
  return [...before, ...own];
};
