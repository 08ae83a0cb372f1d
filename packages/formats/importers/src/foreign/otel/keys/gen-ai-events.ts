import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { type Field, isList, listOf, objectOf } from '../../fields.ts';
import { firstOf, parsedIn, textIn, wordIn } from '../../loose-values.ts';
import { answerIn } from '../../said/answer.ts';
import { messagesOf } from '../../said/messages.ts';
import { requestIn } from '../../said/request.ts';
import { toolCallsIn } from '../../said/tool-calls.ts';
import type { SpanFacts, KeySet } from '../facts.ts';
import type { SpanEvent } from '../span.ts';

/**
 * GenAI conventions of 1.28 to 1.36, where each message is an event of the span: `gen_ai.user.message`, `gen_ai.choice` …, with their
 * fields as attributes or in one JSON text; also the list of them that Logfire keeps in the attribute `events`, and the events
 * `gen_ai.content.prompt` and `gen_ai.content.completion` before them.
 */
export const genAiEventKeys: KeySet = (attributes, span) => {
  const logged = listOf(parsedIn(attributes.get('events')))
    .filter(isJsonObject)
    .map(loggedEvent);
  const events = [...span.events, ...logged];
  const messages = events.flatMap(messagesOfEvent);
  const choices = events.filter(({ name }) => name === 'gen_ai.choice');
  const old = ofContents(events);
  const requested = objectOf(parsedIn(attributes.get('model_request_parameters')));
  return {
    ...old,
    ...(messages.length > 0 && { messages }),
    ...(choices.length > 0 && ofChoices(choices)),
    tools: listOf(requested['function_tools']).filter(isJsonObject).map(toolOf),
  };
};

const loggedEvent = (event: WideJsonObject): SpanEvent => {
  const { 'event.name': name, ...attributes } = event;
  return { name: textIn(name) ?? '', attributes };
};

const ROLES: Readonly<Record<string, string>> = {
  'gen_ai.system.message': 'system',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.tool.message': 'tool',
};

/** The fields of an event: beside each other, or in one JSON text. */
const fieldsOf = ({ attributes }: SpanEvent): WideJsonObject => {
  const body = parsedIn(
    firstOf(attributes['event_body'], attributes['gen_ai.event.content'], attributes['body']),
  );
  return isJsonObject(body) ? { ...attributes, ...body } : attributes;
};

/** An event whose program keeps no contents says nothing of its message. */
const messagesOfEvent = (event: SpanEvent): readonly WideJsonObject[] => {
  const role = Object.hasOwn(ROLES, event.name) ? ROLES[event.name] : undefined;
  if (role === undefined) return [];
  const { content, tool_calls: called, id, name } = fieldsOf(event);
  const calls = toolCallsIn(called);
  if (content === undefined && calls.length === 0) return [];
  const message = {
    role,
    content: contentOf(content),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(role === 'tool' && { tool_call_id: textIn(id) ?? '' }),
    ...(wordIn(name) !== null && { name: wordIn(name) }),
  };
  return messagesOf(message) ?? [];
};

const contentOf = (content: Field): WideJson => {
  const parsed = parsedIn(content);
  if (isList(parsed) && parsed.every(isJsonObject)) return parsed;
  return content ?? null;
};

const ofChoices = (choices: readonly SpanEvent[]): SpanFacts => {
  const [first] = choices;
  if (first === undefined) return {};
  const fields = fieldsOf(first);
  const message = parsedIn(fields['message']);
  const said = isJsonObject(message) ? message : { content: message ?? fields['content'] ?? null };
  const calls = toolCallsIn(firstOf(said['tool_calls'], fields['tool_calls']));
  const content = contentOf(said['content']);
  const [answer = null] =
    content === null && calls.length === 0
      ? []
      : (messagesOf({ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }) ?? []);
  return { answer, finishReason: wordIn(fields['finish_reason']), others: choices.length - 1 };
};

const ofContents = (events: readonly SpanEvent[]): SpanFacts => {
  const of = (name: string, key: string): Field =>
    events.find((event) => event.name === name)?.attributes[key];
  const request = requestIn(of('gen_ai.content.prompt', 'gen_ai.prompt'));
  const said = answerIn(of('gen_ai.content.completion', 'gen_ai.completion'));
  return {
    ...(request !== null && { messages: request.messages, isGuessed: request.isGuessed }),
    ...(said !== null && { answer: said.answer, finishReason: said.finishReason, others: said.others }),
  };
};

const toolOf = ({
  name,
  description,
  parameters_json_schema: parameters,
}: WideJsonObject): WideJsonObject => ({
  type: 'function',
  function: {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
  },
});
