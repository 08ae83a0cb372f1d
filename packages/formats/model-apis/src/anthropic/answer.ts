import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { countOrNull, errorOf, type ModelAnswer, type TokenUsage } from '../answer.ts';
import { appliedEdits } from '../context-edits.ts';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';
import { assistantMessage } from '../blocks/read-blocks.ts';
import { anthropicForm } from './form.ts';

/** What a message of Anthropic's API says. */
export const anthropicAnswer = (body: WideJsonObject): ModelAnswer => {
  const contextEdits = appliedEdits(body);
  return {
    answer: isList(body['content']) ? assistantMessage(body['content'], anthropicForm.openReader()) : null,
    finishReason: textOrNull(body['stop_reason']),
    model: textOrNull(body['model']),
    id: textOrNull(body['id']),
    usage: anthropicUsage(body['usage']),
    ...(contextEdits.length > 0 && { contextEdits }),
    error: errorOf(body['error']),
    complete: true,
    pending: false,
  };
};

/** The usage of Anthropic's API, whose `input_tokens` do not hold what was read from or written to its cache. */
const anthropicUsage = (usage: WideJson | undefined): TokenUsage | null => {
  if (!isJsonObject(usage)) return null;
  const fresh = countOrNull(usage['input_tokens']);
  const cached = countOrNull(usage['cache_read_input_tokens']);
  const written = objectOrEmpty(usage['cache_creation']);
  const forHour = countOrNull(written['ephemeral_1h_input_tokens']);
  const cacheWrite =
    countOrNull(usage['cache_creation_input_tokens']) ??
    sumOrNull(forHour, countOrNull(written['ephemeral_5m_input_tokens']));
  return {
    input: fresh === null ? null : fresh + (cached ?? 0) + (cacheWrite ?? 0),
    output: countOrNull(usage['output_tokens']),
    cached,
    cacheWrite,
    ...(forHour !== null && { cacheWrite1h: forHour }),
    reasoning: countOrNull(objectOrEmpty(usage['output_tokens_details'])['thinking_tokens']),
  };
};

const sumOrNull = (a: number | null, b: number | null): number | null =>
  a === null && b === null ? null : (a ?? 0) + (b ?? 0);
