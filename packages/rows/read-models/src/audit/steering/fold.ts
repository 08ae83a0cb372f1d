import { fromHex } from '@stemma/canonical';
import type { EventOf } from '@stemma/events';
import { isSteeringKey, type AppliedFrame } from '@stemma/history';
import { findRow, listRows, type NamedKey, putRow, removeRow, type Rows } from '@stemma/row-store';
import {
  HELD_CALLS,
  STEERED_BRANCHES,
  STEERED_CALLS,
  STEERED_CHANGES,
  STEERED_HISTORIES,
  WAITING_CALLS,
  WAITING_HISTORIES,
} from './tables.ts';

type CallEvent<T extends EventOf<'call'>['type']> = Extract<EventOf<'call'>, { type: T }>;

/** Keeps what observers changed in calls, which calls were held and released, and which branches have settings that steer. */
export const foldSteering = (frame: AppliedFrame, rows: Rows): void => {
  frame.events.forEach((event, index) => {
    if (event.type === 'CallSteered') foldSteered(frame, event, index, rows);
    else if (event.type === 'CallHeld') foldHeld(frame, event, rows);
    else if (event.type === 'CallReleased') foldReleased(frame, event, rows);
  });
  foldSteeredBranches(frame, rows);
};

const foldSteered = (
  { history, seq }: AppliedFrame,
  { attemptId, request, changes, unsteered }: CallEvent<'CallSteered'>,
  index: number,
  rows: Rows,
): void => {
  putRow(rows, STEERED_CALLS, {
    history,
    attempt_id: attemptId,
    seq,
    index,
    request_sha256: request === null ? null : fromHex(request.sha256),
    request_size: request === null ? null : request.size,
    unsteered,
  });
  changes.forEach(({ what, node, seq: by }, number) =>
    putRow(rows, STEERED_CHANGES, {
      history,
      attempt_id: attemptId,
      number,
      what,
      node_id: node,
      by_seq: by,
    }),
  );
};

const foldHeld = ({ history, seq, at }: AppliedFrame, event: CallEvent<'CallHeld'>, rows: Rows): void => {
  const call = { history, attempt_id: event.attemptId };
  putRow(rows, HELD_CALLS, {
    ...call,
    seq,
    at,
    branch_id: event.branchId,
    position: event.seq,
    cycle: event.cycle,
    api: event.api,
    model: event.model,
    breakpoints: event.breakpoints.join(' '),
    until: BigInt(event.until),
    after_timeout: event.then,
  });
  if (findRow(rows, WAITING_CALLS, call) !== undefined) return;
  putRow(rows, WAITING_CALLS, call);
  countWaiting(rows, history, 1);
};

const foldReleased = (
  { history, seq, at, author }: AppliedFrame,
  { attemptId, how, message }: CallEvent<'CallReleased'>,
  rows: Rows,
): void => {
  const call = { history, attempt_id: attemptId };
  if (findRow(rows, WAITING_CALLS, call) !== undefined) {
    removeRow(rows, WAITING_CALLS, call);
    countWaiting(rows, history, -1);
  }
  const row = findRow(rows, HELD_CALLS, call);
  if (row === undefined) return;
  putRow(rows, HELD_CALLS, {
    ...row,
    released_seq: seq,
    released_at: at,
    how,
    released_by: 'actor' in author ? author.actor : null,
    message,
  });
};

/** Keeps which branches have settings that steer calls: to find them costs the same however many others there are. */
const foldSteeredBranches = (frame: AppliedFrame, rows: Rows): void => {
  const { history, branchId, events } = frame;
  for (const event of events) {
    if (event.type === 'BranchStarted')
      for (const { setting } of listRows(rows, STEERED_BRANCHES, { history, branch_id: event.parent }))
        note(rows, { history, branch_id: branchId, setting }, true);
    if (event.type !== 'ConfigurationChanged') continue;
    for (const { key, to } of event.changes) {
      if (!isSteeringKey(key)) continue;
      note(rows, { history, branch_id: branchId, setting: key }, to !== null && to !== false);
    }
  }
};

/** Notes that a branch has a setting, or has it no more. */
const note = (rows: Rows, key: NamedKey<typeof STEERED_BRANCHES>, has: boolean): void => {
  const had = findRow(rows, STEERED_BRANCHES, key) !== undefined;
  if (has === had) return;
  if (has) putRow(rows, STEERED_BRANCHES, key);
  else removeRow(rows, STEERED_BRANCHES, key);
  const { history } = key;
  const settings = (findRow(rows, STEERED_HISTORIES, { history })?.settings ?? 0) + (has ? 1 : -1);
  if (settings === 0) removeRow(rows, STEERED_HISTORIES, { history });
  else putRow(rows, STEERED_HISTORIES, { history, settings });
};

/** A history without any is in no such table. */
const countWaiting = (rows: Rows, history: string, more: number): void => {
  const calls = (findRow(rows, WAITING_HISTORIES, { history })?.calls ?? 0) + more;
  if (calls === 0) removeRow(rows, WAITING_HISTORIES, { history });
  else putRow(rows, WAITING_HISTORIES, { history, calls });
};
