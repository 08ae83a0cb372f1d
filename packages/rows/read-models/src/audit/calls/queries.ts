import type { EventRef } from '@stemma/context-tree';
import {
  isBodyKept,
  type CallAddress,
  type CallApi,
  type CallFidelity,
  type CallMatch,
  type CallStatus,
  type CallUsage,
  type BranchPosition,
} from '@stemma/events';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { bucketOfText } from './call-links.ts';
import { askedHash } from './message-hash.ts';
import {
  CALL_ANSWERS,
  CALL_ASKED,
  CALL_ATTEMPTS,
  CALL_FOLLOWED,
  CALL_KEPT,
  CALL_MESSAGES,
  CALL_PROMPTS,
  CALLS,
  CALLS_AT,
} from './tables.ts';
import { bodyOfRow, usageOfRow, type BodyRow } from './answer-cells.ts';

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
  readonly request: BodyRow;
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
  /** The hashes of its answer over the scope, 8 bytes each; null: none is known. */
  readonly answers: Uint8Array | null;
  /** A hash of the session that its client named; null: it named none. */
  readonly session: string | null;
  /** The run of a program that made it; null: not known. */
  readonly run: string | null;
  /** The attempt that it was before somebody assigned it here, and the one that it is elsewhere since. */
  /** How true its picture is, where a file told of it; null: its recorder was there. */
  readonly fidelity: CallFidelity | null;
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
  readonly response: BodyRow;
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
): readonly CallRow[] => listRows(rows, CALLS, { history }, { from, limit }).map(callOf);

/** The newest attempts of a history, in the order they were recorded. */
export const listNewestCallRows = (rows: RowReader, history: string, limit: number): readonly CallRow[] =>
  listRows(rows, CALLS, { history }, { reverse: true, limit }).map(callOf).reverse();

/** The attempts with what a position shows. */
export const listCallsAt = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
): readonly CallRow[] =>
  listRows(rows, CALLS_AT, { history, branch_id: branchId, position: seq }).flatMap((row) =>
    callsIn(rows, row),
  );

/** The call whose event a row names. */
const callsIn = (
  rows: RowReader,
  { history, seq, index }: { readonly history: string; readonly seq: number; readonly index: number },
): readonly CallRow[] => {
  const row = findRow(rows, CALLS, { history, seq, index });
  return row === undefined ? [] : [callOf(row)];
};

/** How many attempts are recorded with what a position shows. */
export const countCallsAt = (rows: RowReader, history: string, { branchId, seq }: BranchPosition): number =>
  listRows(rows, CALLS_AT, { history, branch_id: branchId, position: seq }).filter(
    ({ reassigned }) => reassigned !== true,
  ).length;

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
  const calls = listRows(rows, CALLS_AT, { history, branch_id: branchId }, { from: since });
  for (const { position, seq, index, reassigned } of calls)
    if (reassigned !== true && !found.has(position))
      found.set(position, findRow(rows, CALLS, { history, seq, index })?.cycle ?? 0);
  return [...found].map(([seq, cycle]) => ({ seq, cycle }));
};

/** The newest attempt with a position of a branch up to a frame, by default with its newest one; undefined: none is among the newest there. */
export const newestCallUpTo = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq?: number,
): CallRow | undefined => {
  const newest = newestAt(rows, history, branchId, seq);
  return newest && callsIn(rows, newest)[0];
};

/** Of most branches the newest attempt counts: it is looked for alone before others are. */
const newestAt = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number | undefined,
): NamedRow<typeof CALLS_AT> | undefined => {
  const list = (limit: number): readonly NamedRow<typeof CALLS_AT>[] =>
    listRows(
      rows,
      CALLS_AT,
      { history, branch_id: branchId },
      { ...defined({ to: seq }), reverse: true, limit },
    );
  const [newest] = list(1);
  if (newest === undefined || newest.reassigned !== true) return newest;
  return list(MOST_LOOKED_AT).find(({ reassigned }) => reassigned !== true);
};

/** How many of the newest attempts of a history are looked at for one of a branch. */
const MOST_LOOKED_AT = 64;

/**
 * The newest attempt whose request is kept: of this branch, if there is one among the newest of the history or with the newest
 * positions of the branch; else of the history.
 */
export const newestCallRow = (rows: RowReader, history: string, branchId: number): CallRow | undefined => {
  const newest = listRows(rows, CALLS, { history }, { reverse: true, limit: MOST_LOOKED_AT })
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
  listRows(rows, CALLS_AT, { history, branch_id: branchId }, { reverse: true, limit: MOST_LOOKED_AT })
    .flatMap((row) => callsIn(rows, row))
    .filter(isToCopyFrom)
    .sort((a, b) => b.location.seq - a.location.seq)[0];

/** The attempts after one with positions of its branch that are not before its own. */
export const callsAfter = (
  rows: RowReader,
  history: string,
  { location, branchId, position }: CallRow,
): readonly CallRow[] =>
  listRows(rows, CALLS, { history }, { from: location.seq + 1 })
    .map(callOf)
    .filter((call) => call.branchId === branchId && call.position >= position);

/** An attempt by its id. */
export const findCallRow = (rows: RowReader, history: string, attemptId: string): CallRow | undefined => {
  const found = findRow(rows, CALL_ATTEMPTS, { history, attempt_id: attemptId });
  return found && callsIn(rows, found)[0];
};

/** A call of any history. */
export type CallInHistory = CallRow & { readonly history: string };

/** The most calls with one hash that are looked at. */
const MOST_ALIKE = 16;

/** What calls have in the place of a session whose clients name none: of all sessions it is the last one, so the first in reverse. */
export const NO_SESSION = '~';

/**
 * The newest calls of each history whose list of messages has this hash.
 *
 * @param list its first 16 bytes @param session only the calls of this one, or with {@link NO_SESSION} of none; by default of all
 */
export const callsWithPrompt = (
  rows: RowReader,
  list: Uint8Array,
  session?: string,
): readonly CallInHistory[] => {
  const all = { bucket: bucketOf(list), list };
  const prefix = session === undefined ? all : { ...all, session };
  return callsInHistories(rows, listRows(rows, CALL_PROMPTS, prefix, NEWEST_ALIKE));
};

/** The same for a message that calls brought. @param message the first 8 bytes of its hash */
export const callsThatBrought = (
  rows: RowReader,
  message: Uint8Array,
  session?: string,
): readonly CallInHistory[] =>
  callsInHistories(rows, listRows(rows, CALL_MESSAGES, byMessage(message, session), NEWEST_ALIKE));

/** The same for a message that calls were answered with. @param message the first 8 bytes of its hash */
export const callsAnsweredWith = (
  rows: RowReader,
  message: Uint8Array,
  session?: string,
): readonly CallInHistory[] =>
  callsInHistories(rows, listRows(rows, CALL_ANSWERS, byMessage(message, session), NEWEST_ALIKE));

const byMessage = (
  message: Uint8Array,
  session: string | undefined,
): { bucket: number; message: Uint8Array } | { bucket: number; message: Uint8Array; session: string } => {
  const all = { bucket: bucketOf(message), message };
  return session === undefined ? all : { ...all, session };
};

/** The session that the newest calls of a branch name; null: none of them names one. */
export const sessionOfBranch = (rows: RowReader, history: string, branchId: number): string | null => {
  const newest = listRows(
    rows,
    CALLS_AT,
    { history, branch_id: branchId },
    { reverse: true, limit: MOST_LOOKED_AT },
  );
  for (const row of newest)
    for (const { session, reassignedTo } of callsIn(rows, row))
      if (session !== null && reassignedTo === null) return session;
  return null;
};

/** The newest calls of each history of a run whose answer calls a tool with this text as an argument. */
export const callsThatAsked = (rows: RowReader, scope: string, text: string): readonly CallInHistory[] => {
  const hash = askedHash(scope, text);
  return callsInHistories(
    rows,
    listRows(rows, CALL_ASKED, { bucket: bucketOf(hash), text: hash }, NEWEST_ALIKE),
  );
};

/** The position of the call that goes on from the answer of an attempt, where several have its position; undefined: none is known. */
export const positionFollowing = (
  rows: RowReader,
  history: string,
  attemptId: string,
): BranchPosition | undefined => {
  const row = findRow(rows, CALL_FOLLOWED, { history, attempt_id: attemptId });
  return row && { branchId: row.branch_id, seq: row.position };
};

/** The newest calls of each history of which a provider keeps something under a name: `response:…`, `item:…`, `conversation:…`. */
export const callsKeptAs = (rows: RowReader, name: string): readonly CallInHistory[] =>
  callsInHistories(
    rows,
    listRows(rows, CALL_KEPT, { bucket: bucketOfText(name), kept_as: name }, NEWEST_ALIKE),
  );

/** The newest position of a branch that a model was called with; undefined: none was. */
export const newestCalledPosition = (
  rows: RowReader,
  history: string,
  branchId: number,
): number | undefined => newestAt(rows, history, branchId, undefined)?.position;

const NEWEST_ALIKE = { reverse: true, limit: MOST_ALIKE };

const callsInHistories = (
  rows: RowReader,
  found: readonly { readonly history: string; readonly seq: number; readonly index: number }[],
): readonly CallInHistory[] =>
  found.flatMap((row) => callsIn(rows, row).map((call) => ({ history: row.history, ...call })));

/** The bucket of a hash. */
export const bucketOf = (hash: Uint8Array): number => hash[0] ?? 0;

const callOf = (row: NamedRow<typeof CALLS>): CallRow => ({
  attemptId: row.attempt_id,
  location: { seq: row.seq, index: row.index },
  branchId: row.branch_id,
  position: row.position,
  cycle: row.cycle,
  at: row.at,
  api: row.api as CallApi,
  model: row.model,
  request: bodyOfRow(row.request_sha256, row.request_size),
  toolsAt: row.tools_seq === null ? null : { seq: row.tools_seq, index: row.tools_index as number },
  scope: row.scope,
  match: row.match as CallMatch | null,
  origin: row.origin,
  path: row.path,
  contentType: row.request_type,
  coding: row.request_coding,
  finished: row.status === null ? null : finishedOf(row, row.status),
  answers: row.answers,
  session: row.session,
  run: row.run,
  fidelity:
    row.fidelity === null
      ? null
      : {
          kind: row.fidelity as CallFidelity['kind'],
          missing: JSON.parse(row.missing ?? '[]') as CallFidelity['missing'],
        },
  assignedFrom:
    row.assigned_history === null
      ? null
      : { history: row.assigned_history, attemptId: row.assigned_attempt as string },
  reassignedTo:
    row.reassigned_history === null
      ? null
      : {
          history: row.reassigned_history,
          branchId: row.reassigned_branch_id as number,
          attemptId: row.reassigned_attempt as string,
        },
});

const finishedOf = (row: NamedRow<typeof CALLS>, status: string): FinishedCall => {
  return {
    location: { seq: row.finished_seq as number, index: row.finished_index as number },
    status: status as CallStatus,
    httpStatus: row.http_status,
    finishReason: row.finish_reason,
    model: row.answer_model,
    usage: usageOfRow(row),
    firstByteMs: row.first_byte_ms,
    durationMs: row.duration_ms,
    response: bodyOfRow(row.response_sha256, row.response_size),
    error: row.error_message === null ? null : { code: row.error_code, message: row.error_message },
    choices: row.choices,
    contentType: row.response_type,
    coding: row.response_coding,
    retryAfter: row.retry_after,
  };
};
