import { fromHex } from '@stemma/canonical';
import { isOf, type EventOf } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import type { Rows, ValueOf } from '@stemma/row-store';
import { nanosecondsOf } from '@stemma/values';
import { bucketOf } from './calls.ts';
import { putLink } from './call-links.ts';
import { foldHeld, foldReleased, foldSteered } from './fold-steering.ts';
import { CALL_ATTEMPTS, CALL_MESSAGES, CALL_PROMPTS, CALLS, CALLS_AT } from './call-tables.ts';
import { forgetRunCall, noteRunCall, noteWaitingCall } from './run-calls.ts';

type Started = Extract<EventOf<'call'>, { type: 'CallStarted' }>;
type Finished = Extract<EventOf<'call'>, { type: 'CallFinished' }>;
type Reassigned = Extract<EventOf<'correction'>, { type: 'CallReassigned' }>;

/** Writes the attempts that a frame starts and finishes. */
export const foldCalls = (frame: AppliedFrame, rows: Rows): void => {
  frame.events.forEach((event, index) => {
    if (isOf(event, 'call')) foldCall(frame, event, index, rows);
    else if (event.type === 'CallReassigned') foldReassigned(frame, event, rows);
    else if (event.type === 'ConversationLinked')
      putLink(rows, frame.history, event.branchId, event.parent, 'assigned');
  });
};

const foldCall = (frame: AppliedFrame, event: EventOf<'call'>, index: number, rows: Rows): void => {
  switch (event.type) {
    case 'CallStarted': {
      foldStarted(frame, event, index, rows);
      return;
    }
    case 'CallFinished': {
      foldFinished(frame, event, index, rows);
      return;
    }
    case 'CallSteered': {
      foldSteered(frame, event, index, rows);
      return;
    }
    case 'CallHeld': {
      foldHeld(frame, event, rows);
      return;
    }
    case 'CallReleased': {
      foldReleased(frame, event, rows);
      return;
    }
  }
};

const foldStarted = ({ history, seq, at }: AppliedFrame, event: Started, index: number, rows: Rows): void => {
  const { attemptId, branchId, seq: position, cycle, api, model, request, toolsAt, prompt, sent } = event;
  rows.put(CALLS, [history, seq, index], [
    attemptId,
    branchId,
    position,
    cycle,
    startOf(sent?.at, at),
    api,
    model,
    request === null ? null : fromHex(request.sha256),
    request?.size ?? null,
    toolsAt?.seq ?? null,
    toolsAt?.index ?? null,
    prompt?.scope ?? null,
    prompt?.match ?? null,
    sent?.origin ?? null,
    sent?.path ?? null,
    sent?.contentType ?? null,
    sent?.coding ?? null,
    ...(prompt?.origin?.kind === 'assigned'
      ? [...NOT_FINISHED, prompt.origin.history, prompt.origin.attemptId]
      : []),
  ] as unknown as ValueOf<typeof CALLS>);
  rows.put(CALL_ATTEMPTS, [history, attemptId], [seq, index]);
  rows.put(CALLS_AT, [history, branchId, position, seq, index], []);
  if (prompt === null) return;
  const { origin, scope } = prompt;
  if (origin?.kind === 'called') putLink(rows, history, branchId, origin, origin.why);
  noteRunCall(rows, { history, branchId, position, scope, at, location: { seq, index } });
  const list = fromHex(prompt.list);
  rows.put(CALL_PROMPTS, [bucketOf(list), list, history, seq, index], []);
  for (const text of prompt.brings) {
    const message = fromHex(text);
    rows.put(CALL_MESSAGES, [bucketOf(message), message, history, seq, index], []);
  }
};

/** Nanoseconds since 1970: when the request went out; when it was recorded, if nobody saw that. */
const startOf = (sentAt: number | null | undefined, recorded: bigint): bigint =>
  sentAt == null ? recorded : nanosecondsOf(sentAt);

/** The column of the time at which an attempt began. */
const AT_COLUMN = 4;

/** Counts of answers that did not end, recorded before readers knew that these are placeholders. */
const isPlaceholder = (api: unknown, { status, finishReason }: Finished): boolean =>
  api === 'anthropic.messages' && status !== 'answered' && finishReason === null;

const foldFinished = ({ history, seq }: AppliedFrame, event: Finished, index: number, rows: Rows): void => {
  const found = rows.get(CALL_ATTEMPTS, [history, event.attemptId]);
  const key = found && ([history, ...found] as const);
  const row = key && rows.get(CALLS, key);
  if (key === undefined || row === undefined) return;
  const { usage, response, error, head, sentAt } = event;
  const started = row.map((cell, column) => (column === AT_COLUMN ? startOf(sentAt, row[AT_COLUMN]) : cell));
  rows.put(CALLS, key, [
    ...started.slice(0, STARTED_COLUMNS),
    event.status,
    seq,
    index,
    event.httpStatus,
    event.finishReason,
    event.model,
    usage?.input ?? null,
    isPlaceholder(row[5], event) ? null : (usage?.output ?? null),
    usage?.cached ?? null,
    usage?.cacheWrite ?? null,
    usage?.reasoning ?? null,
    event.firstByteMs,
    event.durationMs,
    response === null ? null : fromHex(response.sha256),
    response?.size ?? null,
    error?.code ?? null,
    error?.message ?? null,
    event.choices,
    head?.contentType ?? null,
    head?.coding ?? null,
    head?.retryAfter ?? null,
    ...row.slice(FINISHED_COLUMNS),
  ] as unknown as ValueOf<typeof CALLS>);
  if (callsTools(event))
    noteWaitingCall(rows, history, { branchId: row[1], seq: key[1], index: key[2] }, { seq, index });
};

/** The columns of the start, those of start and end together, and an end that is not known. */
const STARTED_COLUMNS = 17;
const FINISHED_COLUMNS = 38;
const NOT_FINISHED = Array.from({ length: FINISHED_COLUMNS - STARTED_COLUMNS }, () => null);

const callsTools = ({ status, payload }: Finished): boolean => {
  const answer = payload['data_answer'] as { readonly tool_calls?: unknown } | null | undefined;
  return status === 'answered' && Array.isArray(answer?.tool_calls) && answer.tool_calls.length > 0;
};

const foldReassigned = ({ history }: AppliedFrame, event: Reassigned, rows: Rows): void => {
  const found = rows.get(CALL_ATTEMPTS, [history, event.attemptId]);
  const key = found && ([history, ...found] as const);
  const row = key && rows.get(CALLS, key);
  if (key === undefined || row === undefined) return;
  const { to, prompt } = event;
  const [, seq, index] = key;
  const cells = Array.from({ length: FINISHED_COLUMNS + 2 }, (_, column) => row[column] ?? null);
  rows.put(CALLS, key, [...cells, to.history, to.branchId, to.attemptId] as unknown as ValueOf<typeof CALLS>);
  rows.put(CALLS_AT, [history, row[1], row[2], seq, index], [true]);
  forgetRunCall(rows, history, { branchId: row[1], seq, index });
  if (prompt === null) return;
  const list = fromHex(prompt.list);
  rows.remove(CALL_PROMPTS, [bucketOf(list), list, history, seq, index]);
  for (const text of prompt.brings) {
    const message = fromHex(text);
    rows.remove(CALL_MESSAGES, [bucketOf(message), message, history, seq, index]);
  }
};
