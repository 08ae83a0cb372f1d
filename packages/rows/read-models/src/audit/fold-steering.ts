import { fromHex } from '@stemma/canonical';
import type { EventOf } from '@stemma/events';
import { isSteeringKey, type AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import {
  HELD_CALLS,
  STEERED_BRANCHES,
  STEERED_CALLS,
  STEERED_CHANGES,
  STEERED_HISTORIES,
  WAITING_CALLS,
  WAITING_HISTORIES,
} from './call-tables.ts';

type CallEvent<T extends EventOf<'call'>['type']> = Extract<EventOf<'call'>, { type: T }>;

export const foldSteered = (
  { history, seq }: AppliedFrame,
  { attemptId, request, changes, unsteered }: CallEvent<'CallSteered'>,
  index: number,
  rows: Rows,
): void => {
  const body =
    request === null ? ([null, null] as const) : ([fromHex(request.sha256), request.size] as const);
  rows.put(STEERED_CALLS, [history, attemptId], [seq, index, ...body, unsteered]);
  changes.forEach(({ what, node, seq: by }, number) =>
    rows.put(STEERED_CHANGES, [history, attemptId, number], [what, node, by]),
  );
};

export const foldHeld = (
  { history, seq, at }: AppliedFrame,
  event: CallEvent<'CallHeld'>,
  rows: Rows,
): void => {
  const { attemptId, branchId, seq: position, cycle, api, model, breakpoints, until, then } = event;
  rows.put(
    HELD_CALLS,
    [history, attemptId],
    [seq, at, branchId, position, cycle, api, model, breakpoints.join(' '), BigInt(until), then],
  );
  if (rows.get(WAITING_CALLS, [history, attemptId]) !== undefined) return;
  rows.put(WAITING_CALLS, [history, attemptId], []);
  count(rows, WAITING_HISTORIES, history, 1);
};

export const foldReleased = (
  { history, seq, at, author }: AppliedFrame,
  { attemptId, how, message }: CallEvent<'CallReleased'>,
  rows: Rows,
): void => {
  if (rows.get(WAITING_CALLS, [history, attemptId]) !== undefined) {
    rows.remove(WAITING_CALLS, [history, attemptId]);
    count(rows, WAITING_HISTORIES, history, -1);
  }
  const row = rows.get(HELD_CALLS, [history, attemptId]);
  if (row === undefined) return;
  const [held, since, branch, position, cycle, api, model, breakpoints, until, then] = row;
  const actor = 'actor' in author ? author.actor : null;
  rows.put(
    HELD_CALLS,
    [history, attemptId],
    [
      held,
      since,
      branch,
      position,
      cycle,
      api,
      model,
      breakpoints,
      until,
      then,
      seq,
      at,
      how,
      actor,
      message,
    ],
  );
};

/** Keeps which branches have settings that steer calls: to find them costs the same however many others there are. */
export const foldSteeredBranches = (frame: AppliedFrame, rows: Rows): void => {
  const { history, branchId, events } = frame;
  for (const event of events) {
    if (event.type === 'BranchStarted')
      for (const { key } of rows.range(STEERED_BRANCHES, { prefix: [history, event.parent] }))
        note(rows, [history, branchId, key[2]], true);
    if (event.type !== 'ConfigurationChanged') continue;
    for (const { key, to } of event.changes) {
      if (!isSteeringKey(key)) continue;
      note(rows, [history, branchId, key], to !== null && to !== false);
    }
  }
};

/** Notes that a branch has a setting, or has it no more. */
const note = (rows: Rows, key: readonly [string, number, string], has: boolean): void => {
  const had = rows.get(STEERED_BRANCHES, key) !== undefined;
  if (has === had) return;
  if (has) rows.put(STEERED_BRANCHES, key, []);
  else rows.remove(STEERED_BRANCHES, key);
  count(rows, STEERED_HISTORIES, key[0], has ? 1 : -1);
};

/** A history without any is in no such table. */
const count = (
  rows: Rows,
  table: typeof WAITING_HISTORIES | typeof STEERED_HISTORIES,
  history: string,
  more: number,
): void => {
  const now = (rows.get(table, [history])?.[0] ?? 0) + more;
  if (now === 0) rows.remove(table, [history]);
  else rows.put(table, [history], [now]);
};
