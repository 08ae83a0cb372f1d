import { fromHex } from '@stemma/canonical';
import type { EventOf } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import { putRow, type Rows } from '@stemma/row-store';
import { nanosecondsOf } from '@stemma/values';
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
  const { attemptId, run, sent, usage, request, response, head, error } = event;
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
    input_tokens: usage?.input ?? null,
    output_tokens: usage?.output ?? null,
    cached_tokens: usage?.cached ?? null,
    cache_write_tokens: usage?.cacheWrite ?? null,
    cache_write_1h_tokens: usage?.cacheWrite1h ?? null,
    reasoning_tokens: usage?.reasoning ?? null,
    first_byte_ms: event.firstByteMs,
    duration_ms: event.durationMs,
    response_sha256: response === null ? null : fromHex(response.sha256),
    response_size: response?.size ?? null,
    response_type: head?.contentType ?? null,
    response_coding: head?.coding ?? null,
    retry_after: head?.retryAfter ?? null,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
  });
  putRow(rows, PROVIDER_CALL_IDS, { history, attempt_id: attemptId, seq, index });
  if (run !== null) noteRun(rows, history, run);
};
