import type { BranchPosition } from '@stemma/events';
import { interventionIn, positionsAround, type AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { BRANCH_SUMMARIES, HISTORIES, INTERVENTIONS, INTERVENTIONS_BY } from './tables.ts';

/** Writes what an observer did, after the history's row and before the counts of the branch move on (pool: Interventions). */
export const foldIntervention = (frame: AppliedFrame, rows: Rows): void => {
  const { author } = frame;
  const facts = interventionIn(frame);
  if (facts === null || !('actor' in author)) return;
  const { history, seq, branchId, at, command, events } = frame;
  const started = events.find((event) => event.type === 'BranchStarted');
  const sourceBranchId = started === undefined ? branchId : started.parent;
  const previous = rows.get(BRANCH_SUMMARIES, [history, sourceBranchId])?.[6] ?? null;
  const { before, after } = positionsAround(frame, previous);
  const highestAt = raiseHighest(frame, rows);
  rows.put(
    INTERVENTIONS,
    [history, seq],
    [
      branchId,
      at,
      highestAt,
      facts.type,
      author.actor,
      command,
      after.branchId,
      after.seq,
      before?.branchId ?? null,
      before?.seq ?? null,
      facts.notes === '' ? null : facts.notes,
    ],
  );
  const putIndex = (by: string, what: string): void => {
    rows.put(INTERVENTIONS_BY, [history, by, what, seq], []);
  };
  putIndex('type', facts.type);
  putIndex('actor', author.actor);
  putIndex('branch', String(branchId));
  putIndex('position', positionIndexKey(after));
  if (before !== null && positionIndexKey(before) !== positionIndexKey(after))
    putIndex('position', positionIndexKey(before));
};

/** The column `intervened_at` of a history. */
const INTERVENED_AT = 13;

/** Kept with the history: finding the newest row would read everything written in the same batch. */
const raiseHighest = ({ history, at }: AppliedFrame, rows: Rows): bigint => {
  const row = rows.get(HISTORIES, [history]);
  const known = row?.[INTERVENED_AT] ?? null;
  const highest = known !== null && known > at ? known : at;
  if (row !== undefined) {
    const [...cells] = row;
    cells[INTERVENED_AT] = highest;
    rows.put(HISTORIES, [history], cells);
  }
  return highest;
};

/** The key of a position in the index. */
export const positionIndexKey = ({ branchId, seq }: BranchPosition): string => `${branchId}:${seq}`;
