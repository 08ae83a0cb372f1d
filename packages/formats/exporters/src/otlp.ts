import { isJsonObject, sha256Hex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { jsonText } from '@stemma/model-apis';
import { argumentsOf } from './arguments-of.ts';
import type { ExportedCall, ExportedMessage, Exporter } from './exporter.ts';
import { kindOfPart, listOf, objectOf, partsOf, textOf, thinkingText } from './fields.ts';
import { type Losses, openPromptLosses } from './losses.ts';
import { readCalls } from './transcript.ts';

/**
 * OTLP as its file exporter writes it: a line of JSON for each call, a span with the GenAI conventions (1.37 and later). All spans of a
 * history are one trace, and name it as their conversation.
 */
export const otlp: Exporter = {
  name: 'otlp',
  summary: 'OpenTelemetry spans with the GenAI conventions, in OTLP JSON: one call a line',
  isText: true,
  files: [
    {
      suffix: '',
      async *write(source, lost) {
        const promptOf = openPrompts(lost);
        for await (const { call, shown, answer } of readCalls(source, lost)) {
          const span = spanOf(source.history, call, { prompt: promptOf(shown), answer }, lost);
          const scopeSpans = [{ scope: { name: 'stemma' }, spans: [span] }];
          yield `${jsonText({ resourceSpans: [{ resource: RESOURCE, scopeSpans }] })}\n`;
        }
      },
    },
  ],
};

const RESOURCE = { attributes: [{ key: 'service.name', value: { stringValue: 'stemma' } }] };

/** What a call was shown, as JSON, and its answer. */
type Said = { readonly prompt: string; readonly answer: WideJsonObject | null };

/** The JSON of prompts; a message that several calls were shown is written once. */
const openPrompts = (lost: Losses): ((shown: readonly ExportedMessage[]) => string) => {
  const texts = new WeakMap<ExportedMessage, string>();
  const lostOf = openPromptLosses(lost);
  const textOfMessage = (shown: ExportedMessage): string => {
    const { message } = shown;
    const text = texts.get(shown) ?? jsonText(otelMessage(message, lostOf(message)));
    texts.set(shown, text);
    return text;
  };
  return (shown) => `[${shown.map(textOfMessage).join(',')}]`;
};

const spanOf = (history: string, call: ExportedCall, said: Said, lost: Losses): WideJsonObject => {
  const { attemptId, sentAt, durationMs, error, model } = call;
  if (sentAt === null) lost.add('duration of a call without a time', durationMs === null ? 0 : 1);
  if (call.status !== 'answered' && call.status !== 'failed') lost.add(`status ${call.status}`);
  const end = sentAt === null ? null : sentAt + (durationMs ?? 0);
  return {
    traceId: sha256Hex(`trace ${history}`).slice(0, 32),
    spanId: sha256Hex(`span ${history} ${attemptId}`).slice(0, 16),
    name: model === null ? 'chat' : `chat ${model}`,
    kind: 3,
    startTimeUnixNano: nanoseconds(sentAt),
    endTimeUnixNano: nanoseconds(end),
    attributes: Object.entries(attributesOf(history, call, said, lost)).map(([key, value]) => ({
      key,
      value: anyValue(value),
    })),
    ...(error !== null && { status: { code: 2, message: error.message } }),
  };
};

const nanoseconds = (at: number | null): string => (at === null ? '0' : `${at}000000`);

const attributesOf = (
  history: string,
  call: ExportedCall,
  { prompt, answer }: Said,
  lost: Losses,
): WideJsonObject => {
  const { model, usage, finishReason, firstByteMs, tools, error } = call;
  const { stream, ...parameters } = objectOf(call.parameters);
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.conversation.id': history,
    ...(PROVIDERS[call.api] !== undefined && { 'gen_ai.provider.name': PROVIDERS[call.api] as string }),
    ...(model !== null && { 'gen_ai.request.model': model, 'gen_ai.response.model': model }),
    ...(stream === true && { 'gen_ai.request.stream': true }),
    ...Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [`gen_ai.request.${name}`, value] as const),
    ),
    ...(tools !== null && tools.length > 0 && { 'gen_ai.tool.definitions': jsonText([...tools]) }),
    'gen_ai.input.messages': prompt,
    ...(answer !== null && {
      'gen_ai.output.messages': jsonText([
        { ...otelMessage(answer, lost), ...(finishReason !== null && { finish_reason: finishReason }) },
      ]),
    }),
    ...(finishReason !== null && { 'gen_ai.response.finish_reasons': [finishReason] }),
    ...counted({
      'gen_ai.usage.input_tokens': usage?.input,
      'gen_ai.usage.output_tokens': usage?.output,
      'gen_ai.usage.cache_read.input_tokens': usage?.cached,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWrite,
      'gen_ai.usage.reasoning.output_tokens': usage?.reasoning,
    }),
    ...(firstByteMs !== null && { 'gen_ai.response.time_to_first_chunk': firstByteMs / 1000 }),
    ...(error !== null && { 'error.type': error.code ?? '_OTHER' }),
  };
};

/** What the conventions call the providers. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'openai.chat': 'openai',
  'openai.responses': 'openai',
  'anthropic.messages': 'anthropic',
  'gemini.generate': 'gcp.gemini',
  'bedrock.converse': 'aws.bedrock',
  'bedrock.invoke': 'aws.bedrock',
  'cohere.chat': 'cohere',
};

const counted = (tokens: Readonly<Record<string, number | null | undefined>>): WideJsonObject =>
  Object.fromEntries(
    Object.entries(tokens).flatMap(([name, count]) =>
      typeof count === 'number' ? [[name, count] as const] : [],
    ),
  );

/** A value of an attribute as OTLP has it in JSON. */
const anyValue = (value: WideJson): WideJsonObject => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: String(value) };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: (value as readonly WideJson[]).map(anyValue) } };
  if (!isJsonObject(value)) return {};
  return {
    kvlistValue: { values: Object.entries(value).map(([key, item]) => ({ key, value: anyValue(item) })) },
  };
};

/** A message with parts. */
const otelMessage = (message: WideJsonObject, lost: Losses): WideJsonObject => {
  const { role, content, tool_calls: calls, tool_call_id: id, is_error: failed, name, ...rest } = message;
  for (const field of Object.keys(rest)) lost.add(`field ${field} of a message`);
  if (role === 'tool' || role === 'function')
    return {
      role: 'tool',
      parts: [
        {
          type: 'tool_call_response',
          id: textOf(id) ?? '',
          ...(typeof name === 'string' && { name }),
          response: content ?? '',
          ...(failed === true && { is_error: true }),
        },
      ],
    };
  return {
    role: role ?? 'user',
    parts: [
      ...partsOf(content).map(otelPart),
      ...listOf(calls).map((call) => otelCall(objectOf(call), lost)),
    ],
    ...(typeof name === 'string' && { name }),
  };
};

const otelPart = (part: WideJsonObject): WideJsonObject => {
  const kind = kindOfPart(part);
  if (kind === 'text') {
    const { type: _type, text, ...rest } = part;
    return { type: 'text', content: text ?? '', ...rest };
  }
  const thought = kind === 'thinking' ? thinkingText(part) : undefined;
  if (thought === undefined) return part;
  const { type: _type, thinking: _thinking, text: _text, reasoning: _reasoning, ...rest } = part;
  return { type: 'reasoning', content: thought, ...rest };
};

const otelCall = (call: WideJsonObject, lost: Losses): WideJsonObject => {
  const { id, function: named, custom, type: _type, ...rest } = call;
  for (const field of Object.keys(rest)) lost.add(`field ${field} of a tool call`);
  const { name, arguments: given, input } = objectOf(named ?? custom);
  return {
    type: 'tool_call',
    id: textOf(id) ?? '',
    name: textOf(name) ?? '',
    arguments: argumentsOf(textOf(given ?? input) ?? ''),
  };
};
