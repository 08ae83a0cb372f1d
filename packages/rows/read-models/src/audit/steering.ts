import type { EventRef } from '@stemma/context-tree';
import type { AfterTimeout, CallApi, Release, SteeringKind } from '@stemma/events';
import type { RowReader, ValueOf } from '@stemma/row-store';
import {
  HELD_CALLS,
  STEERED_BRANCHES,
  STEERED_CALLS,
  STEERED_CHANGES,
  STEERED_HISTORIES,
  WAITING_CALLS,
  WAITING_HISTORIES,
} from './call-tables.ts';
import { listHistories } from './queries.ts';

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
  const row = rows.get(STEERED_CALLS, [history, attemptId]);
  if (row === undefined) return undefined;
  const [seq, index, sha256, size, unsteered] = row;
  return {
    location: { seq, index },
    request: sha256 instanceof Uint8Array ? { sha256, size: size ?? 0 } : null,
    changes: rows
      .range(STEERED_CHANGES, { prefix: [history, attemptId] })
      .map(({ value: [what, node, by] }) => ({ what: what as SteeringKind, node, seq: by })),
    unsteered: unsteered ?? null,
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
  const row = rows.get(HELD_CALLS, [history, attemptId]);
  return row && heldOf(history, attemptId, row);
};

/** The calls of a history that were held, by their ids. */
export const listHeldCalls = (rows: RowReader, history: string): readonly HeldCallRow[] =>
  rows.range(HELD_CALLS, { prefix: [history] }).map(({ key, value }) => heldOf(key[0], key[1], value));

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
        rows.get(table, [history]) === undefined ? [] : [history],
      )
    : rows.range(table, { prefix: [] }).map(({ key }) => key[0]);

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
    rows
      .range(WAITING_CALLS, { prefix: [each] })
      .flatMap(({ key }) => findHeldCall(rows, key[0], key[1]) ?? []),
  );
};

/** The branches that have, or may have, settings that steer calls. @param askEach as for {@link listUnreleasedCalls} */
export const listSteeredBranches = (
  rows: RowReader,
  askEach = false,
): readonly { readonly history: string; readonly branchId: number }[] => {
  const found = new Map<string, { history: string; branchId: number }>();
  for (const steered of historiesIn(rows, STEERED_HISTORIES, askEach))
    for (const { key } of rows.range(STEERED_BRANCHES, { prefix: [steered] }))
      found.set(`${key[0]} ${key[1]}`, { history: key[0], branchId: key[1] });
  return [...found.values()];
};

const heldOf = (history: string, attemptId: string, row: ValueOf<typeof HELD_CALLS>): HeldCallRow => {
  const [seq, at, branchId, position, cycle, api, model, breakpoints, until, then, ...released] = row;
  const [releasedSeq, releasedAt, how, by, message] = released;
  return {
    history,
    attemptId,
    seq,
    at,
    branchId,
    position,
    cycle,
    api: api as CallApi,
    model: model ?? null,
    breakpoints: breakpoints.split(' '),
    until: Number(until),
    then: then as AfterTimeout,
    released:
      typeof releasedSeq === 'number'
        ? {
            seq: releasedSeq,
            at: releasedAt ?? 0n,
            how: how as Release,
            by: by ?? null,
            message: message ?? null,
          }
        : null,
  };
};
