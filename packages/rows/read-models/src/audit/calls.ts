import type { EventRef } from '@stemma/context-tree';
import {
  isBodyKept,
  type CallAddress,
  type CallApi,
  type CallMatch,
  type CallStatus,
  type CallUsage,
  type BranchPosition,
} from '@stemma/events';
import type { RowOf, RowReader, ValueOf } from '@stemma/row-store';
import { CALL_ATTEMPTS, CALL_MESSAGES, CALL_PROMPTS, CALLS, CALLS_AT } from './call-tables.ts';

/** An attempt to call a model, read from its row. */
export type CallRow = {
  readonly attemptId: string;
  /** The event that started it. */
  readonly location: EventRef;
  /** What it was called with: the position (`branchId`, `position`). */
  readonly branchId: number;
  readonly position: number;
  readonly cycle: number;
  /** Nanoseconds since 1970: when the request went out, or was recorded, if nobody saw that. */
  readonly at: bigint;
  readonly api: CallApi;
  readonly model: string | null;
  /** SHA-256 and size of the body; null: its bytes are not recorded. */
  readonly request: { readonly sha256: Uint8Array; readonly size: number } | null;
  readonly toolsAt: EventRef | null;
  /** Among which calls the branch was looked for, and how it was found; null: nobody looked. */
  readonly scope: string | null;
  readonly match: CallMatch | null;
  /** Where it went; null: not known. */
  readonly origin: string | null;
  readonly path: string | null;
  readonly contentType: string | null;
  readonly coding: string | null;
  /** Null while nobody has recorded how it ended. */
  readonly finished: FinishedCall | null;
  /** The attempt that it was before somebody assigned it here, and the one that it is elsewhere since. */
  readonly assignedFrom: { readonly history: string; readonly attemptId: string } | null;
  readonly reassignedTo: CallAddress | null;
};

export type FinishedCall = {
  readonly location: EventRef;
  readonly status: CallStatus;
  readonly httpStatus: number | null;
  readonly finishReason: string | null;
  readonly model: string | null;
  /** Null if no number of tokens is known. */
  readonly usage: CallUsage | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  readonly response: { readonly sha256: Uint8Array; readonly size: number } | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  /** How many choices the answer has; null: not known. */
  readonly choices: number | null;
  readonly contentType: string | null;
  readonly coding: string | null;
  readonly retryAfter: string | null;
};

/** A page of the attempts of a history, in the order they were recorded; `from`: the frame of the first. */
export const listCallRows = (
  rows: RowReader,
  history: string,
  { from = 0, limit = 1_000 }: { readonly from?: number; readonly limit?: number } = {},
): readonly CallRow[] => rows.range(CALLS, { prefix: [history], from, limit }).map(callOf);

/** The newest attempts of a history, in the order they were recorded. */
export const listNewestCallRows = (rows: RowReader, history: string, limit: number): readonly CallRow[] =>
  rows
    .range(CALLS, { prefix: [history], reverse: true, limit })
    .map(callOf)
    .reverse();

/** The attempts with what a position shows. */
export const listCallsAt = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
): readonly CallRow[] =>
  rows.range(CALLS_AT, { prefix: [history, branchId, seq] }).flatMap(({ key }) => {
    const found = [history, key[3], key[4]] as const;
    const value = rows.get(CALLS, found);
    return value === undefined ? [] : [callOf({ key: found, value })];
  });

/** How many attempts are recorded with what a position shows. */
export const countCallsAt = (rows: RowReader, history: string, { branchId, seq }: BranchPosition): number =>
  rows.range(CALLS_AT, { prefix: [history, branchId, seq] }).filter(({ value: [away] }) => away !== true)
    .length;

/** The first attempt of a history; undefined: none is recorded. */
export const firstCallRow = (rows: RowReader, history: string): CallRow | undefined =>
  listCallRows(rows, history, { limit: 1 })[0];

/** The positions of a branch that models were called with, from a frame on, without repetition. */
export const listCalledPositions = (
  rows: RowReader,
  history: string,
  branchId: number,
  since: number,
): readonly { readonly seq: number; readonly cycle: number }[] => {
  const found = new Map<number, number>();
  for (const { key, value } of rows.range(CALLS_AT, { prefix: [history, branchId], from: since }))
    if (value[0] !== true && !found.has(key[2]))
      found.set(key[2], rows.get(CALLS, [history, key[3], key[4]])?.[3] ?? 0);
  return [...found].map(([seq, cycle]) => ({ seq, cycle }));
};

/** How many of the newest attempts of a history are looked at for one of a branch. */
const MOST_LOOKED_AT = 64;

/**
 * The newest attempt whose request is kept: of this branch, if there is one among the newest of the history or with the newest
 * positions of the branch; else of the history.
 */
export const newestCallRow = (rows: RowReader, history: string, branchId: number): CallRow | undefined => {
  const newest = rows
    .range(CALLS, { prefix: [history], reverse: true, limit: MOST_LOOKED_AT })
    .map(callOf)
    .filter(isToCopyFrom);
  return (
    newest.find((call) => call.branchId === branchId) ?? newestOfBranch(rows, history, branchId) ?? newest[0]
  );
};

const isToCopyFrom = ({ request, reassignedTo }: CallRow): boolean =>
  request !== null && isBodyKept(request) && reassignedTo === null;

/** Of the attempts with the newest positions of a branch. */
const newestOfBranch = (rows: RowReader, history: string, branchId: number): CallRow | undefined =>
  rows
    .range(CALLS_AT, { prefix: [history, branchId], reverse: true, limit: MOST_LOOKED_AT })
    .flatMap(({ key }) => {
      const found = [history, key[3], key[4]] as const;
      const value = rows.get(CALLS, found);
      return value === undefined ? [] : [callOf({ key: found, value })];
    })
    .filter(isToCopyFrom)
    .sort((a, b) => b.location.seq - a.location.seq)[0];

/** The attempts after one with positions of its branch that are not before its own. */
export const callsAfter = (
  rows: RowReader,
  history: string,
  { location, branchId, position }: CallRow,
): readonly CallRow[] =>
  rows
    .range(CALLS, { prefix: [history], from: location.seq + 1 })
    .map(callOf)
    .filter((call) => call.branchId === branchId && call.position >= position);

/** An attempt by its id. */
export const findCallRow = (rows: RowReader, history: string, attemptId: string): CallRow | undefined => {
  const found = rows.get(CALL_ATTEMPTS, [history, attemptId]);
  if (found === undefined) return undefined;
  const key = [history, ...found] as const;
  const value = rows.get(CALLS, key);
  return value === undefined ? undefined : callOf({ key, value });
};

/** A call of any history. */
export type CallInHistory = CallRow & { readonly history: string };

/** The most calls with one hash that are looked at. */
const MOST_ALIKE = 16;

/** The newest calls of each history whose list of messages has this hash. @param list its first 16 bytes */
export const callsWithPrompt = (rows: RowReader, list: Uint8Array): readonly CallInHistory[] =>
  callsWith(rows, CALL_PROMPTS, list);

/** The same for a message that calls brought. @param message the first 8 bytes of its hash */
export const callsThatBrought = (rows: RowReader, message: Uint8Array): readonly CallInHistory[] =>
  callsWith(rows, CALL_MESSAGES, message);

const callsWith = (
  rows: RowReader,
  table: typeof CALL_PROMPTS | typeof CALL_MESSAGES,
  hash: Uint8Array,
): readonly CallInHistory[] =>
  rows
    .range(table, { prefix: [bucketOf(hash), hash], reverse: true, limit: MOST_ALIKE })
    .flatMap(({ key: [, , history, seq, index] }) => {
      const value = rows.get(CALLS, [history, seq, index]);
      return value === undefined ? [] : [{ history, ...callOf({ key: [history, seq, index], value }) }];
    });

/** The bucket of a hash. */
export const bucketOf = (hash: Uint8Array): number => hash[0] ?? 0;

const callOf = ({ key, value }: RowOf<typeof CALLS>): CallRow => ({
  attemptId: value[0],
  location: { seq: key[1], index: key[2] },
  branchId: value[1],
  position: value[2],
  cycle: value[3],
  at: value[4],
  api: value[5] as CallApi,
  model: value[6] ?? null,
  request: bodyOf(value, 7),
  toolsAt: typeof value[9] === 'number' ? { seq: value[9], index: value[10] as number } : null,
  scope: value[11] ?? null,
  match: (value[12] ?? null) as CallMatch | null,
  origin: value[13] ?? null,
  path: value[14] ?? null,
  contentType: value[15] ?? null,
  coding: value[16] ?? null,
  finished: typeof value[17] === 'string' ? finishedOf(value) : null,
  assignedFrom: typeof value[38] === 'string' ? { history: value[38], attemptId: value[39] as string } : null,
  reassignedTo:
    typeof value[40] === 'string'
      ? { history: value[40], branchId: value[41] as number, attemptId: value[42] as string }
      : null,
});

const bodyOf = (value: ValueOf<typeof CALLS>, at: number): CallRow['request'] =>
  value[at] instanceof Uint8Array ? { sha256: value[at], size: value[at + 1] as number } : null;

const finishedOf = (value: ValueOf<typeof CALLS>): FinishedCall => {
  const number = (at: number): number | null => (value[at] ?? null) as number | null;
  const text = (at: number): string | null => (value[at] ?? null) as string | null;
  const message = text(33);
  const usage = {
    input: number(23),
    output: number(24),
    cached: number(25),
    cacheWrite: number(26),
    reasoning: number(27),
  };
  return {
    location: { seq: value[18] as number, index: value[19] as number },
    status: value[17] as CallStatus,
    httpStatus: number(20),
    finishReason: text(21),
    model: text(22),
    usage: [23, 24, 25, 26, 27].every((at) => number(at) === null) ? null : usage,
    firstByteMs: number(28),
    durationMs: number(29),
    response: bodyOf(value, 30),
    error: message === null ? null : { code: text(32), message },
    choices: number(34),
    contentType: text(35),
    coding: text(36),
    retryAfter: text(37),
  };
};
