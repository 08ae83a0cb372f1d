import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { type Field, listOf, objectOf } from '../../fields.ts';
import { countIn, firstOf, parsedIn, textIn, wordIn } from '../../loose-values.ts';
import { answerIn } from '../../said/answer.ts';
import { messagesOf } from '../../said/messages.ts';
import { requestIn } from '../../said/request.ts';
import { toolCallsIn } from '../../said/tool-calls.ts';
import type { Attributes } from '../attributes.ts';
import { statedUsage, type SpanFacts, type KeySet } from '../facts.ts';
import { joinedAnswer } from './gen-ai.ts';

/**
 * OpenInference: `llm.input_messages.0.message.role`, `llm.output_messages…`, `llm.token_count.prompt`,
 * `llm.invocation_parameters`, `llm.tools.0.tool.json_schema`; flat, nested, or as Phoenix exports them.
 */
export const openInferenceKeys: KeySet = (attributes) => {
  const shown = messagesUnder(attributes.tree('llm.input_messages'));
  const said = messagesUnder(attributes.tree('llm.output_messages'));
  const { model: asked, ...parameters } = objectOf(parsedIn(attributes.get('llm.invocation_parameters')));
  const { tools: offered, messages: _messages, ...plain } = parameters;
  const defined = listOf(attributes.tree('llm.tools')).flatMap(toolOf);
  const model = wordIn(attributes.get('llm.model_name'));
  return {
    model: wordIn(asked) ?? model,
    answeredBy: model,
    messages: shown.length > 0 ? shown : textsUnder(attributes.tree('llm.prompts')),
    isGuessed: shown.length === 0,
    parameters: Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null)),
    tools: defined.length > 0 ? defined : listOf(offered),
    answer: joinedAnswer(said.filter(({ role }) => role === 'assistant')),
    finishReason: wordIn(attributes.get('llm.finish_reason')),
    usage: usageIn(attributes),
  };
};

/**
 * The whole request and answer as OpenInference keeps them beside: `input.value` and `output.value`, of which a program that was not
 * taught an API has nothing else.
 */
export const openInferenceValues: KeySet = (attributes) => {
  const request = requestIn(attributes.get('input.value'));
  const said = answerIn(attributes.get('output.value'));
  return {
    ...(request !== null && {
      messages: request.messages,
      isGuessed: request.isGuessed,
      model: request.model,
      tools: request.tools,
    }),
    ...(said !== null && {
      answer: said.answer,
      finishReason: said.finishReason,
      answeredBy: said.model,
      usage: said.usage,
      others: said.others,
    }),
  };
};

const messagesUnder = (value: Field): readonly WideJsonObject[] =>
  listOf(parsedIn(value)).flatMap((item) => {
    const { message } = objectOf(item);
    return messageOf(isJsonObject(message) ? message : objectOf(item));
  });

/** `{role, content, contents: [{message_content: {type, text, image}}], tool_calls: [{tool_call}], tool_call_id}`. */
const messageOf = (fields: WideJsonObject): readonly WideJsonObject[] => {
  const { contents, content, finish_reason: _reason, ...rest } = fields;
  const { function_call_name: name, function_call_arguments_json: input, ...others } = rest;
  const parts = listOf(contents).map(partOf);
  const called = toolCallsIn(others['tool_calls']);
  const calls =
    called.length === 0 && typeof name === 'string'
      ? toolCallsIn([{ name, arguments: input ?? null }])
      : called;
  const whole = parts.length > 0 ? parts : (content ?? null);
  if (fields['role'] === undefined && whole === null && calls.length === 0) return [];
  return (
    messagesOf({
      ...others,
      role: firstOf(fields['role'], 'assistant') ?? 'assistant',
      content: whole,
      ...(calls.length > 0 && { tool_calls: calls }),
    }) ?? []
  );
};

const partOf = (item: WideJson): WideJson => {
  const { message_content: held } = objectOf(item);
  const { type, text, image, ...rest } = isJsonObject(held) ? held : objectOf(item);
  if (typeof text === 'string' && (type === 'reasoning' || type === 'thinking'))
    return { type: 'thinking', thinking: text, ...rest };
  if (typeof text === 'string') return { type: 'text', text };
  const url = objectOf(objectOf(image)['image'])['url'] ?? objectOf(image)['url'];
  if (typeof url === 'string') return { type: 'image_url', image_url: { url } };
  return isJsonObject(held) ? held : objectOf(item);
};

const textsUnder = (value: Field): readonly WideJsonObject[] =>
  listOf(value).flatMap((item) => {
    const text = textIn(firstOf(objectOf(objectOf(item)['prompt'])['text'], item));
    return text === null ? [] : [{ role: 'user', content: text }];
  });

const toolOf = (item: WideJson): readonly WideJsonObject[] => {
  const { tool } = objectOf(item);
  const schema = parsedIn(firstOf(objectOf(tool)['json_schema'], objectOf(item)['tool.json_schema'], item));
  return isJsonObject(schema) ? [schema] : [];
};

const usageIn = (attributes: Attributes): SpanFacts['usage'] => {
  const of = (name: string): number | null => countIn(attributes.get(`llm.token_count.${name}`));
  return statedUsage({
    input: of('prompt'),
    output: of('completion'),
    cached: of('prompt_details.cache_read'),
    cacheWrite: of('prompt_details.cache_write'),
    reasoning: of('completion_details.reasoning'),
  });
};
