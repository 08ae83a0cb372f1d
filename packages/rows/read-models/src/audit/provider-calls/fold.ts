import { fromHex } from '@stemma/canonical';
import type { EventOf } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import { putRow, type Rows } from '@stemma/row-store';
import { nanosecondsOf } from '@stemma/values';
import { answerCells } from '../calls/answer-cells.ts';
import { noteRun } from '../runs/fold-recorded-runs.ts';
import { PROVIDER_CALL_IDS, PROVIDER_CALLS } from './tables.ts';

type ProviderCallRecorded = Extract<EventOf<'call'>, { type: 'ProviderCallRecorded' }>;

/** Writes the calls without messages that a frame records. */
export const foldProviderCalls = (frame: AppliedFrame, rows: Rows): void => {
  frame.events.forEach((event, index) => {
    if (event.type === 'ProviderCallRecorded') foldProviderCall(frame, event, index, rows);
  });
};

const foldProviderCall = (
  { history, seq, at, branchId }: AppliedFrame,
  event: ProviderCallRecorded,
  index: number,
  rows: Rows,
): void => {
  const { attemptId, run, sent, request } = event;
  putRow(rows, PROVIDER_CALLS, {
    ...{ history, seq, index, run, status: event.status, method: event.method, model: event.model },
    attempt_id: attemptId,
    branch_id: branchId,
    at: sent.at === null ? at : nanosecondsOf(sent.at),
    origin: sent.origin,
    path: sent.path,
    request_sha256: request === null ? null : fromHex(request.sha256),
    request_size: request?.size ?? null,
    request_type: sent.contentType,
    request_coding: sent.coding,
    http_status: event.httpStatus,
    ...answerCells(event),
  });
  putRow(rows, PROVIDER_CALL_IDS, { history, attempt_id: attemptId, seq, index });
  if (run !== null) noteRun(rows, history, run);
};
