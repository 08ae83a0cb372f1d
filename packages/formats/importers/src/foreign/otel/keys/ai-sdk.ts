import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { listOf, objectOf } from '../../fields.ts';
import { countIn, firstOf, parsedIn, textIn, wordIn } from '../../loose-values.ts';
import { messagesIn } from '../../said/messages.ts';
import { toolCallsIn } from '../../said/tool-calls.ts';
import type { Attributes } from '../attributes.ts';
import { statedUsage, type SpanFacts, type KeySet } from '../facts.ts';

/**
 * The AI SDK (`experimental_telemetry`): `ai.prompt.messages`, `ai.prompt.tools`, `ai.response.text`, `ai.response.toolCalls`,
 * `ai.usage.inputTokens` (`promptTokens` before version 5), `ai.settings.temperature`.
 */
export const aiSdkKeys: KeySet = (attributes) => {
  const text = textIn(firstOf(attributes.get('ai.response.text', 'ai.result.text')));
  const object = textIn(attributes.get('ai.response.object', 'ai.result.object'));
  const calls = toolCallsIn(attributes.get('ai.response.toolCalls', 'ai.result.toolCalls'));
  const thought = wordIn(attributes.get('ai.response.reasoning'));
  const settings = objectOf(attributes.tree('ai.settings'));
  const first = attributes.get('ai.response.msToFirstChunk', 'ai.stream.msToFirstChunk');
  return {
    model: wordIn(attributes.get('ai.model.id')),
    answeredBy: wordIn(attributes.get('ai.response.model')),
    messages: messagesIn(attributes.get('ai.prompt.messages')),
    parameters: Object.fromEntries(Object.entries(settings).filter(([name]) => !NO_PARAMETERS.has(name))),
    tools: listOf(parsedIn(attributes.get('ai.prompt.tools')))
      .map(parsedIn)
      .filter(isJsonObject),
    answer: answerOf(text ?? object, calls, thought),
    finishReason: wordIn(
      attributes.get('ai.response.finishReason', 'ai.finishReason', 'ai.result.finishReason'),
    ),
    usage: usageIn(attributes),
    firstByteMs: typeof first === 'number' && first >= 0 ? Math.round(first) : null,
  };
};

/** What the SDK does with a call, and a model does not know. */
const NO_PARAMETERS: ReadonlySet<string> = new Set(['maxRetries', 'maxSteps', 'mode', 'output']);

const answerOf = (
  text: string | null,
  calls: readonly WideJsonObject[],
  thought: string | null,
): WideJsonObject | null => {
  if (text === null && calls.length === 0 && thought === null) return null;
  const parts = [
    ...(thought === null ? [] : [{ type: 'thinking', thinking: thought }]),
    ...(text === null || text === '' ? [] : [{ type: 'text', text }]),
  ];
  const hasNoText = parts.length === 0 && calls.length > 0;
  return {
    role: 'assistant',
    content: hasNoText ? null : thought === null && calls.length === 0 ? text : parts,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};

const usageIn = (attributes: Attributes): SpanFacts['usage'] => {
  const of = (...names: readonly string[]): number | null =>
    countIn(attributes.get(...names.map((name) => `ai.usage.${name}`)));
  return statedUsage({
    input: of('inputTokens', 'promptTokens'),
    output: of('outputTokens', 'completionTokens'),
    cached: of('inputTokenDetails.cacheReadTokens', 'cachedInputTokens'),
    cacheWrite: of('inputTokenDetails.cacheWriteTokens'),
    reasoning: of('outputTokenDetails.reasoningTokens', 'reasoningTokens'),
  });
};
