import type { WideJsonObject } from '@stemma/canonical';
import { objectOf } from './fields.ts';
import { countIn, firstOf, textIn, timeIn, wordIn } from './loose-values.ts';
import type { ForeignReader } from './reader.ts';
import { answerIn, usageIn } from './said/answer.ts';
import type { CallOfRecord } from './said/records.ts';
import { requestIn } from './said/request.ts';
import { droppedOf, rowReader } from './said/row-reader.ts';

const READ: ReadonlySet<string> = new Set([
  ...['id', 'model', 'created_at', 'session_id', 'input', 'output', 'finish_reason', 'native_finish_reason'],
  ...['tokens_prompt', 'tokens_completion', 'native_tokens_prompt', 'native_tokens_completion', 'cancelled'],
  ...['native_tokens_reasoning', 'native_tokens_cached', 'generation_time', 'latency', 'streamed'],
]);

/** A generation: its statistics, with its stored contents (`/generation/content`) where they were put beside. */
const callOf = (id: string, row: WideJsonObject): CallOfRecord => {
  const { completion, reasoning, ...output } = objectOf(row['output']);
  const request = requestIn(row['input']);
  const said = answerIn(completion ?? (Object.keys(output).length > 0 ? output : null));
  const thought = wordIn(reasoning);
  const answer = said?.answer ?? null;
  return {
    run: wordIn(row['session_id']) ?? 'generations',
    title: null,
    call: {
      id,
      at: timeIn(row['created_at']),
      durationMs: countIn(row['generation_time']),
      firstByteMs: countIn(row['latency']),
      model: wordIn(row['model']),
      messages: request?.messages ?? [],
      isGuessed: request?.isGuessed === true,
      parameters: request?.parameters ?? {},
      tools: request?.tools ?? null,
      answer: answer !== null && thought !== null ? { ...answer, reasoning: thought } : answer,
      finishReason: said?.finishReason ?? wordIn(firstOf(row['finish_reason'], row['native_finish_reason'])),
      answeredBy: null,
      usage: usageIn({
        prompt_tokens: firstOf(row['native_tokens_prompt'], row['tokens_prompt']) ?? null,
        completion_tokens: firstOf(row['native_tokens_completion'], row['tokens_completion']) ?? null,
        cache_read_input_tokens: row['native_tokens_cached'] ?? null,
        reasoning_tokens: row['native_tokens_reasoning'] ?? null,
      }),
      error: null,
      ...(row['cancelled'] === true && { status: 'cancelled' as const }),
    },
    dropped: droppedOf(row, READ, said?.others),
  };
};

/** Generations of OpenRouter: what its API says of one, and the messages that it stored, where these are put beside. */
export const openrouter: ForeignReader = rowReader({
  name: 'openrouter',
  mapping: 'openrouter@1',
  summary: 'generations that OpenRouter logged: rows of its API, with the contents that it stored',
  versions: 'the rows of /api/v1/generation and of /api/v1/generation/content, as documented in 2026',
  isRow: (value) =>
    wordIn(value['id']) !== null &&
    wordIn(value['model']) !== null &&
    ['native_tokens_prompt', 'tokens_prompt'].some((name) => value[name] !== undefined) &&
    ['generation_time', 'created_at', 'provider_name'].some((name) => value[name] !== undefined),
  idOf: (row) => textIn(row['id']) ?? '',
  pages: ['data'],
  callOf,
});
