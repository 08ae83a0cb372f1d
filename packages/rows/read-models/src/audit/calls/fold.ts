import { fromHex, type WideJson } from '@stemma/canonical';
import { isOf, type CallAddress, type CallApi, type CallFidelity, type EventOf } from '@stemma/events';
import { isRunScope, runOfScope, type AppliedFrame } from '@stemma/history';
import { argumentTexts, conversationOf, LEAST_TOLD, nameOfAnswer } from '@stemma/model-apis';
import { findRow, type NamedRow, putRow, removeRow, type Rows } from '@stemma/row-store';
import { nanosecondsOf } from '@stemma/values';
import { answerCells } from './answer-cells.ts';
import { bucketOfText, putImportLink, putLink } from './call-links.ts';
import { answerHashes, askedHash, eachHash } from './message-hash.ts';
import { bucketOf, NO_SESSION } from './queries.ts';
import { countRunCall, uncountRunCall } from '../runs/fold-recorded-runs.ts';
import { forgetRunCall, noteRunCall, noteWaitingCall } from './run-calls.ts';
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

type Started = Extract<EventOf<'call'>, { type: 'CallStarted' }>;
type Finished = Extract<EventOf<'call'>, { type: 'CallFinished' }>;
type Reassigned = Extract<EventOf<'correction'>, { type: 'CallReassigned' }>;

/** Writes the attempts that a frame starts and finishes, and where calls belong since somebody corrected it. */
export const foldCalls = (frame: AppliedFrame, rows: Rows): void => {
  frame.events.forEach((event, index) => {
    if (isOf(event, 'call')) foldCall(frame, event, index, rows);
    else if (event.type === 'CallReassigned') foldReassigned(frame, event, rows);
    else if (event.type === 'ConversationLinked')
      putLink(rows, frame.history, event.branchId, event.parent, 'assigned');
    else if (event.type === 'ImportLinked')
      putImportLink(rows, frame.history, event.branchId, event.parent, event.why);
  });
};

const foldCall = (frame: AppliedFrame, event: EventOf<'call'>, index: number, rows: Rows): void => {
  switch (event.type) {
    case 'CallStarted':
      foldStarted(frame, event, index, rows);
      return;
    case 'CallFinished':
      foldFinished(frame, event, index, rows);
      return;
    // These are in the tables of steering.
    case 'CallSteered':
    case 'CallHeld':
    case 'CallReleased':
      return;
    // These have tables of their own: nobody finds a conversation by them.
    case 'ProviderCallRecorded':
      return;
  }
};

const foldStarted = ({ history, seq, at }: AppliedFrame, event: Started, index: number, rows: Rows): void => {
  const { attemptId, branchId, seq: position, request, toolsAt, prompt, sent } = event;
  const assigned = prompt?.origin?.kind === 'assigned' ? prompt.origin : null;
  const { follows, mayContinue, session, run: ownRun } = (event.payload['data_place'] ?? {}) as CallPlace;
  const fidelity = event.payload['data_fidelity'] as CallFidelity | undefined;
  const run = ownRun ?? (prompt === null ? null : runOfScope(prompt.scope));
  putRow(rows, CALLS, {
    history,
    seq,
    index,
    attempt_id: attemptId,
    branch_id: branchId,
    position,
    cycle: event.cycle,
    at: startOf(sent?.at, at),
    api: event.api,
    model: event.model,
    request_sha256: request === null ? null : fromHex(request.sha256),
    request_size: request?.size ?? null,
    tools_seq: toolsAt?.seq ?? null,
    tools_index: toolsAt?.index ?? null,
    scope: prompt?.scope ?? null,
    match: prompt?.match ?? null,
    origin: sent?.origin ?? null,
    path: sent?.path ?? null,
    request_type: sent?.contentType ?? null,
    request_coding: sent?.coding ?? null,
    session: session ?? null,
    run,
    fidelity: fidelity?.kind ?? null,
    missing: fidelity === undefined ? null : JSON.stringify(fidelity.missing),
    assigned_history: assigned?.history ?? null,
    assigned_attempt: assigned?.attemptId ?? null,
  });
  putRow(rows, CALL_ATTEMPTS, { history, attempt_id: attemptId, seq, index });
  putRow(rows, CALLS_AT, { history, branch_id: branchId, position, seq, index });
  if (run !== null) countRunCall(rows, history, run, seq);
  const parameters = (event.payload['data_parameters'] ?? null) as WideJson;
  putKept(
    rows,
    { history, seq, index },
    event.api === 'openai.responses' ? conversationOf(parameters) : null,
  );
  if (follows !== undefined)
    putRow(rows, CALL_FOLLOWED, { history, attempt_id: follows, branch_id: branchId, position });
  if (mayContinue !== undefined) putLink(rows, history, branchId, mayContinue, 'may continue');
  if (prompt === null) return;
  const { origin, scope } = prompt;
  if (origin?.kind === 'called') putLink(rows, history, branchId, origin, origin.why);
  noteRunCall(rows, { history, branchId, position, scope, at, location: { seq, index } });
  const list = fromHex(prompt.list);
  const call = { session: session ?? NO_SESSION, history, seq, index };
  putRow(rows, CALL_PROMPTS, { bucket: bucketOf(list), list, ...call });
  for (const text of prompt.brings) {
    const message = fromHex(text);
    putRow(rows, CALL_MESSAGES, { bucket: bucketOf(message), message, ...call });
  }
};

type CallPlace = {
  readonly follows?: string;
  readonly mayContinue?: CallAddress;
  readonly session?: string;
  readonly run?: string;
};

/** A call of which a provider keeps something under a name. */
const putKept = (
  rows: Rows,
  call: { readonly history: string; readonly seq: number; readonly index: number },
  name: string | null,
): void => {
  const { history, seq, index } = call;
  if (name !== null)
    putRow(rows, CALL_KEPT, { bucket: bucketOfText(name), kept_as: name, history, seq, index });
};

/** Nanoseconds since 1970: when the request went out; when it was recorded, if nobody saw that. */
const startOf = (sentAt: number | null | undefined, recorded: bigint): bigint =>
  sentAt == null ? recorded : nanosecondsOf(sentAt);

const findAttempt = (rows: Rows, history: string, attemptId: string): NamedRow<typeof CALLS> | undefined => {
  const found = findRow(rows, CALL_ATTEMPTS, { history, attempt_id: attemptId });
  return found && findRow(rows, CALLS, found);
};

/** Counts of answers that did not end, recorded before readers knew that these are placeholders. */
const isPlaceholder = (api: string, { status, finishReason }: Finished): boolean =>
  api === 'anthropic.messages' && status !== 'answered' && finishReason === null;

const foldFinished = ({ history, seq }: AppliedFrame, event: Finished, index: number, rows: Rows): void => {
  const row = findAttempt(rows, history, event.attemptId);
  if (row === undefined) return;
  const answers = row.scope === null ? null : answerHashes(row.scope, event.payload);
  for (const message of answers === null ? [] : eachHash(answers))
    putRow(rows, CALL_ANSWERS, {
      bucket: bucketOf(message),
      message,
      session: row.session ?? NO_SESSION,
      history,
      seq: row.seq,
      index: row.index,
    });
  putRow(rows, CALLS, {
    ...row,
    at: startOf(event.sentAt, row.at),
    status: event.status,
    finished_seq: seq,
    finished_index: index,
    http_status: event.httpStatus,
    finish_reason: event.finishReason,
    answer_model: event.model,
    ...answerCells(event),
    ...(isPlaceholder(row.api, event) && { output_tokens: null }),
    choices: event.choices,
    answers,
  });
  const { data_answer: answer, data_answer_id: id } = event.payload;
  putKept(rows, row, typeof id === 'string' ? `response:${id}` : null);
  putKept(rows, row, nameOfAnswer(row.api as CallApi, (answer ?? null) as WideJson));
  putAsked(rows, row, event);
  if (callsTools(event))
    noteWaitingCall(
      rows,
      history,
      { branchId: row.branch_id, seq: row.seq, index: row.index },
      { seq, index },
    );
};

/** Arguments of one answer that are looked for. */
const MOST_ASKED = 64;

/** What a call of a run asks tools for: a conversation may be made for it. */
const putAsked = (
  rows: Rows,
  { scope, history, seq, index }: NamedRow<typeof CALLS>,
  event: Finished,
): void => {
  if (scope === null || !isRunScope(scope) || event.status !== 'answered') return;
  const texts = argumentTexts(event.payload['data_answer'] as WideJson | undefined).filter(
    ({ length }) => length >= LEAST_TOLD,
  );
  for (const asked of texts.slice(0, MOST_ASKED)) {
    const text = askedHash(scope, asked);
    putRow(rows, CALL_ASKED, { bucket: bucketOf(text), text, history, seq, index });
  }
};

const callsTools = ({ status, payload }: Finished): boolean => {
  const answer = payload['data_answer'] as { readonly tool_calls?: unknown } | null | undefined;
  return status === 'answered' && Array.isArray(answer?.tool_calls) && answer.tool_calls.length > 0;
};

const foldReassigned = ({ history }: AppliedFrame, event: Reassigned, rows: Rows): void => {
  const row = findAttempt(rows, history, event.attemptId);
  if (row === undefined) return;
  const { to, prompt } = event;
  const { branch_id, position, seq, index } = row;
  const call = { session: row.session ?? NO_SESSION, history, seq, index };
  putRow(rows, CALLS, {
    ...row,
    reassigned_history: to.history,
    reassigned_branch_id: to.branchId,
    reassigned_attempt: to.attemptId,
  });
  putRow(rows, CALLS_AT, { history, branch_id, position, seq, index, reassigned: true });
  if (row.reassigned_history === null && row.run !== null) uncountRunCall(rows, history, row.run);
  forgetRunCall(rows, history, { branchId: branch_id, seq, index });
  for (const message of row.answers == null ? [] : eachHash(row.answers))
    removeRow(rows, CALL_ANSWERS, { bucket: bucketOf(message), message, ...call });
  if (prompt === null) return;
  const list = fromHex(prompt.list);
  removeRow(rows, CALL_PROMPTS, { bucket: bucketOf(list), list, ...call });
  for (const text of prompt.brings) {
    const message = fromHex(text);
    removeRow(rows, CALL_MESSAGES, { bucket: bucketOf(message), message, ...call });
  }
};
