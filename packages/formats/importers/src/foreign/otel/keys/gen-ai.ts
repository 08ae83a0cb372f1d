import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { type Field, listOf, objectOf } from '../../fields.ts';
import { countIn, firstOf, parsedIn, textIn, wordIn } from '../../loose-values.ts';
import { messagesIn, messagesOf } from '../../said/messages.ts';
import { isOtelParts, messagesOfParts } from '../../said/otel-parts.ts';
import type { Attributes } from '../attributes.ts';
import { statedUsage, type SpanFacts, type KeySet } from '../facts.ts';

/**
 * GenAI conventions since 1.37 (`gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions`,
 * `gen_ai.tool.definitions`), and what all of their versions call the model, parameters and tokens.
 */
export const genAiKeys: KeySet = (attributes, span) => {
  const details = span.events.find(({ name }) => name === 'gen_ai.client.inference.operation.details');
  const of = (name: string): Field => firstOf(attributes.tree(name), details?.attributes[name]);
  const shown = messagesIn(of('gen_ai.input.messages'));
  const system = systemIn(of('gen_ai.system_instructions'));
  return {
    ...genAiCall(attributes),
    messages: shown === null ? null : [...system, ...shown],
    tools: listOf(parsedIn(of('gen_ai.tool.definitions')))
      .map(parsedIn)
      .filter(isJsonObject),
    ...outputIn(of('gen_ai.output.messages')),
  };
};

/** The parts of the system's prompt, or the text. */
const systemIn = (value: Field): readonly WideJsonObject[] => {
  const parsed = parsedIn(value);
  if (typeof parsed === 'string') return parsed === '' ? [] : [{ role: 'system', content: parsed }];
  const items = listOf(parsed);
  if (isOtelParts(items)) return messagesOfParts('system', items);
  if (items.length > 0 && items.every((item) => typeof item === 'string'))
    return items.map((content) => ({ role: 'system', content }));
  return messagesIn(items) ?? [];
};

/** The answer among the messages of an output: of several choices the first; one that came in pieces is put together. */
const outputIn = (value: Field): SpanFacts => {
  const items = listOf(parsedIn(value)).map(parsedIn).filter(isJsonObject);
  const [first] = items;
  if (first === undefined) return {};
  const finishReason = wordIn(firstOf(...items.map((item) => item['finish_reason'])));
  const areChoices = items.filter((item) => wordIn(item['finish_reason']) !== null).length > 1;
  const given = areChoices ? [first] : items;
  const answers = given
    .flatMap((item) => messagesOf(withoutReason(item)) ?? [])
    .filter(({ role }) => role === 'assistant');
  return {
    answer: joinedAnswer(answers),
    finishReason,
    others: areChoices ? items.length - 1 : 0,
  };
};

const withoutReason = ({ finish_reason: _reason, ...message }: WideJsonObject): WideJsonObject => message;

/** One message of several that a model said in one go. */
export const joinedAnswer = (answers: readonly WideJsonObject[]): WideJsonObject | null => {
  const [first] = answers;
  if (first === undefined || answers.length === 1) return first ?? null;
  const parts = answers.flatMap(({ content }): readonly WideJson[] => {
    if (Array.isArray(content)) return listOf(content);
    return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
  });
  const calls = answers.flatMap(({ tool_calls: called }) => listOf(called));
  return {
    role: 'assistant',
    content: parts.length === 0 ? null : parts,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};

/** Of `gen_ai.request…`: what is no parameter of a call. */
const NO_PARAMETERS: ReadonlySet<string> = new Set(['model', 'type', 'stream', 'is_stream']);

/** Model, parameters and tokens, which all versions of the conventions have. */
const genAiCall = (attributes: Attributes): SpanFacts => {
  const request = objectOf(attributes.tree('gen_ai.request'));
  const reasons = firstOf(
    attributes.get('gen_ai.response.finish_reasons'),
    attributes.get('gen_ai.response.finish_reason'),
  );
  const seconds = attributes.get('gen_ai.response.time_to_first_chunk', 'gen_ai.server.time_to_first_token');
  const parsed = parsedIn(reasons);
  return {
    model: wordIn(request['model']),
    parameters: Object.fromEntries(
      Object.entries(request).filter(([name, value]) => !NO_PARAMETERS.has(name) && value !== null),
    ),
    answeredBy: wordIn(attributes.get('gen_ai.response.model')),
    finishReason: wordIn(Array.isArray(parsed) ? listOf(parsed)[0] : textIn(parsed)),
    usage: genAiUsage(attributes),
    firstByteMs: typeof seconds === 'number' && seconds >= 0 ? Math.round(seconds * 1e3) : null,
  };
};

const genAiUsage = (attributes: Attributes): SpanFacts['usage'] => {
  const of = (...names: readonly string[]): number | null =>
    countIn(attributes.get(...names.flatMap((name) => [`gen_ai.usage.${name}`, `llm.usage.${name}`])));
  return statedUsage({
    input: of('input_tokens', 'prompt_tokens'),
    output: of('output_tokens', 'completion_tokens'),
    cached: of(
      ...['cache_read.input_tokens', 'cache_read_input_tokens', 'cached_input_tokens', 'input_tokens.cached'],
      ...['details.cache_read_tokens', 'details.cached_tokens', 'cached_tokens'],
    ),
    cacheWrite: of(
      ...['cache_creation.input_tokens', 'cache_creation_input_tokens', 'cache_write_input_tokens'],
      ...['details.cache_write_tokens', 'input_tokens.cache_write'],
    ),
    reasoning: of(
      ...[
        'reasoning.output_tokens',
        'reasoning_tokens',
        'reasoning_output_tokens',
        'details.reasoning_tokens',
      ],
      'output_tokens.reasoning',
    ),
  });
};
