import { isJsonObject } from '@stemma/canonical';
import type { CallUsage } from '@stemma/events';
import type { Field } from '../fields.ts';

/** Tokens as a line states them. */
export type Tokens = CallUsage;

const countIn = (value: Field): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** Null: it states none. */
export const readTokens = (value: Field): Tokens | null => {
  if (!isJsonObject(value)) return null;
  const tokens = {
    input: countIn(value['input_tokens']),
    output: countIn(value['output_tokens']),
    cached: countIn(value['cached_input_tokens']),
    cacheWrite: countIn(value['cache_write_input_tokens']),
    reasoning: countIn(value['reasoning_output_tokens']),
  };
  return tokens.input === null && tokens.output === null ? null : tokens;
};

export const sameTokens = (a: Tokens, b: Tokens): boolean =>
  a.input === b.input && a.output === b.output && a.cached === b.cached && a.reasoning === b.reasoning;
