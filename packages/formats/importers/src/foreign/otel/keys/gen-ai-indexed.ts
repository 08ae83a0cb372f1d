import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { listOf, objectOf } from '../../fields.ts';
import { firstOf, parsedIn, wordIn } from '../../loose-values.ts';
import { answerIn } from '../../said/answer.ts';
import { messagesOf } from '../../said/messages.ts';
import { requestIn } from '../../said/request.ts';
import type { SpanFacts, KeySet } from '../facts.ts';

/**
 * GenAI conventions before they had a form for messages, as OpenLLMetry writes them: `gen_ai.prompt.0.role`,
 * `gen_ai.prompt.0.content`, `gen_ai.completion.0.tool_calls.0.name`, `llm.request.functions.0.name`; also
 * `gen_ai.prompt` and `gen_ai.completion` as one JSON text each.
 */
export const genAiIndexedKeys: KeySet = (attributes) => {
  const prompt = attributes.tree('gen_ai.prompt');
  const functions = listOf(attributes.tree('llm.request.functions')).filter(isJsonObject).map(toolOf);
  return {
    model: wordIn(attributes.get('llm.request.model')),
    answeredBy: wordIn(attributes.get('llm.response.model')),
    ...(Array.isArray(prompt) ? { messages: listOf(prompt).flatMap(messagesOfPiece) } : ofPrompt(prompt)),
    tools: functions,
    ...completionIn(attributes.tree('gen_ai.completion')),
  };
};

const ofPrompt = (prompt: WideJson | undefined): SpanFacts => {
  const request = requestIn(prompt);
  return request === null ? {} : { messages: request.messages, isGuessed: request.isGuessed };
};

/** The content may be the JSON text of parts. */
const messagesOfPiece = (piece: WideJson): readonly WideJsonObject[] => {
  if (!isJsonObject(piece)) return [];
  const { content, finish_reason: _reason, ...rest } = piece;
  if (content === undefined && rest['tool_calls'] === undefined) return [];
  const parts = parsedIn(content);
  const areParts =
    Array.isArray(parts) &&
    listOf(parts).every((part) => isJsonObject(part) && typeof part['type'] === 'string');
  const calls = parsedIn(rest['tool_calls']);
  const hasOwn = areParts && listOf(parts).some((part) => objectOf(part)['type'] === 'tool_use');
  const { tool_calls: _calls, ...others } = rest;
  const message = {
    ...others,
    role: firstOf(rest['role'], 'user') ?? 'user',
    content: (areParts ? parts : content) ?? null,
    ...(calls !== undefined && !hasOwn && { tool_calls: calls }),
  };
  return messagesOf(message) ?? [];
};

/** Each item is a choice, but what the model thought, which stands before its answer. */
const completionIn = (value: WideJson | undefined): SpanFacts => {
  if (!Array.isArray(value)) {
    const said = answerIn(value);
    return said === null ? {} : { answer: said.answer, finishReason: said.finishReason };
  }
  const items = listOf(value).filter(isJsonObject);
  const thoughts = items.filter(({ role }) => role === 'thinking');
  const [first, ...others] = items.filter((item) => !thoughts.includes(item));
  if (first === undefined) return {};
  const [answer = null] = messagesOfPiece({ ...first, role: 'assistant' });
  const thinking = thoughts.map(({ content }) => ({ type: 'thinking', thinking: content ?? '' }));
  return {
    answer: answer === null || thinking.length === 0 ? answer : withThoughts(answer, thinking),
    finishReason: wordIn(first['finish_reason']),
    others: others.length,
  };
};

const withThoughts = (answer: WideJsonObject, thinking: readonly WideJsonObject[]): WideJsonObject => {
  const { content } = answer;
  const text = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
  return { ...answer, content: [...thinking, ...(Array.isArray(content) ? listOf(content) : text)] };
};

/** The definition of a tool as the chat API has it. */
const toolOf = ({ name, description, parameters }: WideJsonObject): WideJsonObject => ({
  type: 'function',
  function: {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters: parsedIn(parameters) ?? null }),
  },
});
