import type { CallUsage } from '@stemma/events';

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
