import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { jsonText } from '@stemma/model-apis';
import { type Field, listOf, objectOf } from '../fields.ts';
import { firstOf, textIn, wordIn } from '../loose-values.ts';
import { toolCallIn } from './tool-calls.ts';

/** The parts that only messages of the AI SDK have. */
const OWN: ReadonlySet<string> = new Set(['tool-call', 'tool-result', 'tool-error', 'redacted-reasoning']);

/** True for a message whose parts can only be the AI SDK's: `{type: 'tool-call', toolCallId, toolName, input}`. */
export const isAiSdk = (message: WideJsonObject): boolean =>
  listOf(message['content']).some((part) => isJsonObject(part) && isOwn(part));

const isOwn = (part: WideJsonObject): boolean =>
  OWN.has(textIn(part['type']) ?? '') || (part['type'] === 'reasoning' && typeof part['text'] === 'string');

/** The messages as the chat API has them: each result of a tool is a message. */
export const aiSdkMessages = (message: WideJsonObject): readonly WideJsonObject[] => {
  const { role, content } = message;
  const results: WideJsonObject[] = [];
  const calls: WideJsonObject[] = [];
  const parts: WideJson[] = [];
  for (const [i, part] of listOf(content).entries()) {
    const type = isJsonObject(part) ? part['type'] : undefined;
    const call = type === 'tool-call' ? toolCallIn(part, i) : null;
    if (call !== null) calls.push(call);
    else if (isJsonObject(part) && (type === 'tool-result' || type === 'tool-error') && role === 'tool')
      results.push(resultOf(part));
    else parts.push(partOf(part));
  }
  if (role === 'tool') return results;
  return [
    {
      role: role ?? 'assistant',
      content: parts.length === 0 ? null : parts,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
};

/** `{type: 'tool-result', result}`, or since version 5 `{output: {type: 'text' | 'json' | 'error-text' …, value}}`. */
const resultOf = (part: WideJsonObject): WideJsonObject => {
  const output = objectOf(part['output']);
  const kind = textIn(output['type']);
  const value = kind === null ? firstOf(part['result'], part['output'], part['error']) : output['value'];
  const isFailed =
    part['isError'] === true || part['type'] === 'tool-error' || kind?.startsWith('error') === true;
  const name = wordIn(part['toolName']);
  return {
    role: 'tool',
    tool_call_id: textIn(part['toolCallId']) ?? '',
    ...(name !== null && { name }),
    content: resultText(value, kind === 'content'),
    ...(isFailed && { is_error: true }),
  };
};

const resultText = (value: Field, isParts: boolean): WideJson => {
  if (value === undefined || value === null) return '';
  if (isParts && Array.isArray(value)) return listOf(value).map(partOf);
  return typeof value === 'string' ? value : jsonText(value);
};

const partOf = (part: WideJson): WideJson => {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isJsonObject(part) || part['type'] !== 'reasoning') return part;
  const options = objectOf(firstOf(part['providerOptions'], part['providerMetadata']));
  const signature = wordIn(firstOf(part['signature'], objectOf(options['anthropic'])['signature']));
  return {
    type: 'thinking',
    thinking: textIn(part['text']) ?? '',
    ...(signature !== null && { signature }),
  };
};
