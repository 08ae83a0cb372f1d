import type { BranchPosition } from '@stemma/events';
import { interventionIn, positionsAround, type AppliedFrame } from '@stemma/history';
import { findRow, putRow, type Rows } from '@stemma/row-store';
import { BRANCH_SUMMARIES, HISTORIES } from '../branches/tables.ts';
import { INTERVENTIONS, INTERVENTIONS_BY, OBSERVATIONS } from './tables.ts';

/** Writes what an observer did, after the history's row and before the counts of the branch move on (pool: Interventions). */
export const foldIntervention = (frame: AppliedFrame, rows: Rows): void => {
  const { author } = frame;
  const facts = interventionIn(frame);
  if (facts === null || !('actor' in author)) return;
  const { history, seq, branchId, at, command, events } = frame;
  const started = events.find((event) => event.type === 'BranchStarted');
  const sourceBranchId = started === undefined ? branchId : started.parent;
  const previous = findRow(rows, BRANCH_SUMMARIES, { history, branch_id: sourceBranchId })?.seq ?? null;
  const { before, after } = positionsAround(frame, previous);
  putRow(rows, INTERVENTIONS, {
    history,
    seq,
    branch_id: branchId,
    at,
    high_at: raiseHighest(frame, rows),
    intervention: facts.type,
    actor: author.actor,
    command,
    after_branch_id: after.branchId,
    after_seq: after.seq,
    before_branch_id: before?.branchId ?? null,
    before_seq: before?.seq ?? null,
    notes: facts.notes === '' ? null : facts.notes,
  });
  const putIndex = (by: string, what: string): void =>
    putRow(rows, INTERVENTIONS_BY, { history, by, what, seq });
  putIndex('type', facts.type);
  putIndex('actor', author.actor);
  putIndex('branch', String(branchId));
  putIndex('position', positionIndexKey(after));
  if (before !== null && positionIndexKey(before) !== positionIndexKey(after))
    putIndex('position', positionIndexKey(before));
};

/** Kept with the history: finding the newest row would read everything written in the same batch. */
const raiseHighest = ({ history, at }: AppliedFrame, rows: Rows): bigint => {
  const row = findRow(rows, HISTORIES, { history });
  const known = row?.intervened_at ?? null;
  const highest = known !== null && known > at ? known : at;
  if (row !== undefined) putRow(rows, HISTORIES, { ...row, intervened_at: highest });
  return highest;
};

/** The key of a position in the index. */
export const positionIndexKey = ({ branchId, seq }: BranchPosition): string => `${branchId}:${seq}`;

/** Writes what actors looked at. */
export const foldObservations = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, branchId, events, author } = frame;
  const actor = 'actor' in author ? author.actor : null;
  events.forEach((event, index) => {
    if (event.type !== 'ObservationRecorded') return;
    putRow(rows, OBSERVATIONS, {
      history,
      seq,
      index,
      actor,
      kind: event.kind,
      what: event.what,
      branch_id: event.branchId,
      position: event.seq,
      times: event.times,
      first_at: event.first_at,
      last_at: event.last_at,
      asked_branch_id: branchId,
    });
  });
};
