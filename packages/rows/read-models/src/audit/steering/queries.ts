import type { EventRef } from '@stemma/context-tree';
import type { AfterTimeout, CallApi, Release, SteeringKind } from '@stemma/events';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { listHistories } from '../branches/queries.ts';
import {
  HELD_CALLS,
  STEERED_BRANCHES,
  STEERED_CALLS,
  STEERED_CHANGES,
  STEERED_HISTORIES,
  WAITING_CALLS,
  WAITING_HISTORIES,
} from './tables.ts';

/** What observers changed in a request. */
export type SteeredCallRow = {
  /** The event that has the request as it came. */
  readonly location: EventRef;
  /** Null: it went as it came, or its bytes are not recorded. */
  readonly request: { readonly sha256: Uint8Array; readonly size: number } | null;
  readonly changes: readonly { readonly what: SteeringKind; readonly node: string; readonly seq: number }[];
  /** Why it went as it came; null: it was steered. */
  readonly unsteered: string | null;
};

/** Undefined: the call went out as it came, and nobody steered it. */
export const findSteeredCall = (
  rows: RowReader,
  history: string,
  attemptId: string,
): SteeredCallRow | undefined => {
  const call = { history, attempt_id: attemptId };
  const row = findRow(rows, STEERED_CALLS, call);
  if (row === undefined) return undefined;
  return {
    location: { seq: row.seq, index: row.index },
    request: row.request_sha256 === null ? null : { sha256: row.request_sha256, size: row.request_size ?? 0 },
    changes: listRows(rows, STEERED_CHANGES, call).map(({ what, node_id, by_seq }) => ({
      what: what as SteeringKind,
      node: node_id,
      seq: by_seq,
    })),
    unsteered: row.unsteered,
  };
};

/** A call that was held before it went out. */
export type HeldCallRow = {
  readonly history: string;
  readonly attemptId: string;
  readonly seq: number;
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  readonly branchId: number;
  /** The position that shows what the model would be shown. */
  readonly position: number;
  readonly cycle: number;
  readonly api: CallApi;
  readonly model: string | null;
  readonly breakpoints: readonly string[];
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly then: AfterTimeout;
  /** Null while it waits. */
  readonly released: {
    readonly seq: number;
    readonly at: bigint;
    readonly how: Release;
    readonly by: string | null;
    readonly message: string | null;
  } | null;
};

export const findHeldCall = (
  rows: RowReader,
  history: string,
  attemptId: string,
): HeldCallRow | undefined => {
  const row = findRow(rows, HELD_CALLS, { history, attempt_id: attemptId });
  return row && heldOf(row);
};

/** The calls of a history that were held, by their ids. */
export const listHeldCalls = (rows: RowReader, history: string): readonly HeldCallRow[] =>
  listRows(rows, HELD_CALLS, { history }).map(heldOf);

/**
 * Histories that have a row in a list of some of them. Nothing says of such a list that one is missing in it: it is noticed only
 * by asking for each history.
 */
const historiesIn = (
  rows: RowReader,
  table: typeof WAITING_HISTORIES | typeof STEERED_HISTORIES,
  askEach: boolean,
): readonly string[] =>
  askEach
    ? listHistories(rows).flatMap(({ history }) =>
        findRow(rows, table, { history }) === undefined ? [] : [history],
      )
    : listRows(rows, table, {}).map(({ history }) => history);

/**
 * Those that nobody has released, of one history or of all.
 *
 * @param askEach asks for each history whether it has some, which takes longer and notices rows that are missing
 */
export const listUnreleasedCalls = (
  rows: RowReader,
  history?: string,
  askEach = false,
): readonly HeldCallRow[] => {
  const histories = history === undefined ? historiesIn(rows, WAITING_HISTORIES, askEach) : [history];
  return histories.flatMap((each) =>
    listRows(rows, WAITING_CALLS, { history: each }).flatMap(
      ({ attempt_id }) => findHeldCall(rows, each, attempt_id) ?? [],
    ),
  );
};

/** The branches that have, or may have, settings that steer calls. @param askEach as for {@link listUnreleasedCalls} */
export const listSteeredBranches = (
  rows: RowReader,
  askEach = false,
): readonly { readonly history: string; readonly branchId: number }[] => {
  const found = new Map<string, { history: string; branchId: number }>();
  for (const steered of historiesIn(rows, STEERED_HISTORIES, askEach))
    for (const { history, branch_id } of listRows(rows, STEERED_BRANCHES, { history: steered }))
      found.set(`${history} ${branch_id}`, { history, branchId: branch_id });
  return [...found.values()];
};

const heldOf = (row: NamedRow<typeof HELD_CALLS>): HeldCallRow => ({
  history: row.history,
  attemptId: row.attempt_id,
  seq: row.seq,
  at: row.at,
  branchId: row.branch_id,
  position: row.position,
  cycle: row.cycle,
  api: row.api as CallApi,
  model: row.model,
  breakpoints: row.breakpoints.split(' '),
  until: Number(row.until),
  then: row.after_timeout as AfterTimeout,
  released:
    row.released_seq === null
      ? null
      : {
          seq: row.released_seq,
          at: row.released_at ?? 0n,
          how: row.how as Release,
          by: row.released_by,
          message: row.message,
        },
});
