import { fromHex } from '@stemma/canonical';
import type { CallUsage, EventOf } from '@stemma/events';

/** The columns of a table of calls that say what an answer took, and what of it is kept. */
export const ANSWER_COLUMNS = [
  ['input_tokens', 'uint', 'null'],
  ['output_tokens', 'uint', 'null'],
  ['cached_tokens', 'uint', 'null'],
  ['cache_write_tokens', 'uint', 'null'],
  ['cache_write_1h_tokens', 'uint', 'null'],
  ['reasoning_tokens', 'uint', 'null'],
  ['first_byte_ms', 'uint', 'null'],
  ['duration_ms', 'uint', 'null'],
  ['response_sha256', 'bytes', 'null'],
  ['response_size', 'uint', 'null'],
] as const;

/** What the end of a call says, whether it has messages or not. */
type EndOfCall = Pick<
  Extract<EventOf<'call'>, { type: 'CallFinished' }>,
  'usage' | 'firstByteMs' | 'durationMs' | 'response' | 'error' | 'head'
>;

/** The cells of {@link ANSWER_COLUMNS}, and those of the error and of the answer's head. */
export const answerCells = ({ usage, firstByteMs, durationMs, response, error, head }: EndOfCall) => ({
  input_tokens: usage?.input ?? null,
  output_tokens: usage?.output ?? null,
  cached_tokens: usage?.cached ?? null,
  cache_write_tokens: usage?.cacheWrite ?? null,
  cache_write_1h_tokens: usage?.cacheWrite1h ?? null,
  reasoning_tokens: usage?.reasoning ?? null,
  first_byte_ms: firstByteMs,
  duration_ms: durationMs,
  response_sha256: response === null ? null : fromHex(response.sha256),
  response_size: response?.size ?? null,
  error_code: error?.code ?? null,
  error_message: error?.message ?? null,
  response_type: head?.contentType ?? null,
  response_coding: head?.coding ?? null,
  retry_after: head?.retryAfter ?? null,
});

type TokenColumns = {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly cache_write_1h_tokens: number | null;
  readonly reasoning_tokens: number | null;
};

/** The tokens of a call, from its row; null if no number of them is known. */
export const usageOfRow = (row: TokenColumns): CallUsage | null => {
  const usage = {
    input: row.input_tokens,
    output: row.output_tokens,
    cached: row.cached_tokens,
    cacheWrite: row.cache_write_tokens,
    reasoning: row.reasoning_tokens,
    ...(row.cache_write_1h_tokens !== null && { cacheWrite1h: row.cache_write_1h_tokens }),
  };
  return Object.values(usage).every((tokens) => tokens === null) ? null : usage;
};

/** SHA-256 and size of a body, from its row; null: its bytes are not recorded. */
export type BodyRow = { readonly sha256: Uint8Array; readonly size: number } | null;

export const bodyOfRow = (sha256: Uint8Array | null, size: number | null): BodyRow =>
  sha256 === null ? null : { sha256, size: size as number };
