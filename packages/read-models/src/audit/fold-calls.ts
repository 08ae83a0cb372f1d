import { fromHex } from '@stemma/canonical';
import { isOf, type EventOf } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { bucketOf } from './calls.ts';
import { CALL_ATTEMPTS, CALL_MESSAGES, CALL_PROMPTS, CALLS, CALLS_AT } from './call-tables.ts';

type Started = Extract<EventOf<'call'>, { type: 'CallStarted' }>;
type Finished = Extract<EventOf<'call'>, { type: 'CallFinished' }>;

/** Writes the attempts that a frame starts and finishes. */
export const foldCalls = (frame: AppliedFrame, rows: Rows): void => {
  frame.events.forEach((event, index) => {
    if (!isOf(event, 'call')) return;
    if (event.type === 'CallStarted') foldStarted(frame, event, index, rows);
    else foldFinished(frame, event, index, rows);
  });
};

const foldStarted = ({ history, seq, at }: AppliedFrame, event: Started, index: number, rows: Rows): void => {
  const { attemptId, branchId, seq: position, cycle, api, model, request, toolsAt, prompt } = event;
  rows.put(
    CALLS,
    [history, seq, index],
    [
      attemptId,
      branchId,
      position,
      cycle,
      at,
      api,
      model,
      request === null ? null : fromHex(request.sha256),
      request?.size ?? null,
      toolsAt?.seq ?? null,
      toolsAt?.index ?? null,
      prompt?.scope ?? null,
      prompt?.match ?? null,
    ],
  );
  rows.put(CALL_ATTEMPTS, [history, attemptId], [seq, index]);
  rows.put(CALLS_AT, [history, branchId, position, seq, index], []);
  if (prompt === null) return;
  const list = fromHex(prompt.list);
  rows.put(CALL_PROMPTS, [bucketOf(list), list, history, seq, index], []);
  for (const text of prompt.brings) {
    const message = fromHex(text);
    rows.put(CALL_MESSAGES, [bucketOf(message), message, history, seq, index], []);
  }
};

const foldFinished = ({ history, seq }: AppliedFrame, event: Finished, index: number, rows: Rows): void => {
  const found = rows.get(CALL_ATTEMPTS, [history, event.attemptId]);
  const key = found && ([history, ...found] as const);
  const row = key && rows.get(CALLS, key);
  if (key === undefined || row === undefined) return;
  const { usage, response, error } = event;
  const [id, branch, position, cycle, at, api, model, sha256, size, toolsSeq, toolsIndex, scope, match] = row;
  rows.put(CALLS, key, [
    ...([id, branch, position, cycle, at, api, model, sha256, size, toolsSeq, toolsIndex] as const),
    ...([scope, match] as const),
    event.status,
    seq,
    index,
    event.httpStatus,
    event.finishReason,
    event.model,
    usage?.input ?? null,
    usage?.output ?? null,
    usage?.cached ?? null,
    usage?.cacheWrite ?? null,
    usage?.reasoning ?? null,
    event.firstByteMs,
    event.durationMs,
    response === null ? null : fromHex(response.sha256),
    response?.size ?? null,
    error?.code ?? null,
    error?.message ?? null,
  ]);
};
