import type { EventRef } from '@stemma/context-tree';
import type { CallStatus, CallUsage } from '@stemma/events';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { bodyOfRow, usageOfRow, type BodyRow } from '../calls/answer-cells.ts';
import { PROVIDER_CALL_IDS, PROVIDER_CALLS } from './tables.ts';

/** A call of a provider's API that carries no messages, read from its row. */
export type ProviderCallRow = {
  readonly attemptId: string;
  /** The event that recorded it, and the branch of its frame. */
  readonly location: EventRef;
  readonly branchId: number;
  /** Nanoseconds since 1970: when the request went out, or was recorded, if nobody saw that. */
  readonly at: bigint;
  readonly run: string | null;
  readonly method: string;
  readonly origin: string | null;
  readonly path: string | null;
  readonly model: string | null;
  readonly status: CallStatus;
  readonly httpStatus: number | null;
  /** Null if no number of tokens is known. */
  readonly usage: CallUsage | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  readonly request: BodyRow;
  readonly response: BodyRow;
  readonly requestHead: HeadRow;
  readonly responseHead: HeadRow;
  readonly retryAfter: string | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
};

type HeadRow = { readonly contentType: string | null; readonly coding: string | null };

/** A page of the calls without messages of a history, in the order they were recorded; `from`: the frame of the first. */
export const listProviderCallRows = (
  rows: RowReader,
  history: string,
  page: { readonly from: number; readonly limit: number },
): readonly ProviderCallRow[] => listRows(rows, PROVIDER_CALLS, { history }, page).map(providerCallOf);

/** A call without messages by its id. */
export const findProviderCallRow = (
  rows: RowReader,
  history: string,
  attemptId: string,
): ProviderCallRow | undefined => {
  const found = findRow(rows, PROVIDER_CALL_IDS, { history, attempt_id: attemptId });
  const row = found && findRow(rows, PROVIDER_CALLS, found);
  return row && providerCallOf(row);
};

const providerCallOf = (row: NamedRow<typeof PROVIDER_CALLS>): ProviderCallRow => ({
  attemptId: row.attempt_id,
  location: { seq: row.seq, index: row.index },
  branchId: row.branch_id,
  at: row.at,
  run: row.run,
  method: row.method,
  origin: row.origin,
  path: row.path,
  model: row.model,
  status: row.status as CallStatus,
  httpStatus: row.http_status,
  usage: usageOfRow(row),
  firstByteMs: row.first_byte_ms,
  durationMs: row.duration_ms,
  request: bodyOfRow(row.request_sha256, row.request_size),
  response: bodyOfRow(row.response_sha256, row.response_size),
  requestHead: { contentType: row.request_type, coding: row.request_coding },
  responseHead: { contentType: row.response_type, coding: row.response_coding },
  retryAfter: row.retry_after,
  error: row.error_message === null ? null : { code: row.error_code, message: row.error_message },
});
