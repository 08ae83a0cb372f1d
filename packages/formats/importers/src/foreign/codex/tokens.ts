import { isJsonObject } from '@stemma/canonical';
import type { CallUsage } from '@stemma/events';
import { countOf, type Field } from '../fields.ts';

/** Tokens as a line states them. */
export type Tokens = CallUsage;

/** Null: it states none. */
export const readTokens = (value: Field): Tokens | null => {
  if (!isJsonObject(value)) return null;
  const tokens = {
    input: countOf(value['input_tokens']),
    output: countOf(value['output_tokens']),
    cached: countOf(value['cached_input_tokens']),
    cacheWrite: countOf(value['cache_write_input_tokens']),
    reasoning: countOf(value['reasoning_output_tokens']),
  };
  return tokens.input === null && tokens.output === null ? null : tokens;
};

export const sameTokens = (a: Tokens, b: Tokens): boolean =>
  a.input === b.input && a.output === b.output && a.cached === b.cached && a.reasoning === b.reasoning;
