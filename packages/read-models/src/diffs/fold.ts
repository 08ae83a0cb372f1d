import { isOf } from '@stemma/events';
import { cycleOfFrame, touchesOf, type AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { nodesOf, touchCells } from './records.ts';
import { CYCLES, DUE, TIMELINE, TOUCHED } from './tables.ts';

/**
 * Writes what one frame did to nodes, and no more: a row for each and another for each that ends with a cycle, one for the
 * frame, one where it ended a cycle.
 */
export const foldDiffs = (frame: AppliedFrame, rows: Rows): void => {
  const { history, lineage, seq } = frame;
  const touches = touchesOf(frame);
  if (touches.length > 0) {
    const cycle = cycleOfFrame(frame);
    for (const touch of touches) {
      rows.put(TIMELINE, [history, touch.id, seq, touch.index], touchCells(touch, lineage, cycle));
      const { id, ttl, expires } = touch;
      if (typeof ttl === 'number' && typeof expires === 'number' && ttl > 0)
        rows.put(DUE, [history, lineage, expires, seq, id], [ttl]);
    }
    rows.put(TOUCHED, [history, lineage, seq], [nodesOf(touches)]);
  }
  foldCycle(frame, rows);
};

const foldCycle = ({ history, lineage, seq, events, snapshot }: AppliedFrame, rows: Rows): void => {
  if (snapshot === null) return;
  const index = events.findIndex((event) => isOf(event, 'snapshot'));
  const imported = events[index]?.type === 'SnapshotImported' ? true : null;
  const turnIndex = events.findIndex(({ type }) => type === 'TurnSealed');
  const sealed = events[turnIndex];
  const turn = sealed?.type === 'TurnSealed' ? sealed.turn.id : null;
  rows.put(
    CYCLES,
    [history, lineage, snapshot.cycle],
    [seq, index, turn, turn === null ? null : turnIndex, imported],
  );
};
