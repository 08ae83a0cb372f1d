import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { jsonText } from '@stemma/model-apis';
import { listOf } from '../fields.ts';
import { firstOf, textIn, wordIn } from '../loose-values.ts';
import { toolCallIn } from './tool-calls.ts';

/** The types of parts of OpenTelemetry's messages, and the field that holds what is in them. */
const OWN: ReadonlySet<string> = new Set([
  'text',
  'reasoning',
  'thinking',
  'tool_call',
  'tool_call_response',
  'server_tool_call',
  'server_tool_call_response',
  'blob',
  'uri',
  'file',
]);

/** True for parts as OpenTelemetry's GenAI conventions have them: `{type: 'text', content}`, `{type: 'tool_call', id, name, arguments}`. */
export const isOtelParts = (parts: readonly WideJson[]): boolean =>
  parts.length > 0 &&
  parts.every((part) => isJsonObject(part) && typeof part['type'] === 'string') &&
  parts.some((part) => isJsonObject(part) && OWN.has(textIn(part['type']) ?? ''));

/** The messages of a role and its parts, as the chat API has them: each result of a tool is a message of its own. */
export const messagesOfParts = (role: string, given: readonly WideJson[]): readonly WideJsonObject[] => {
  const messages: WideJsonObject[] = [];
  const calls: WideJsonObject[] = [];
  let parts: WideJson[] = [];
  const flush = (): void => {
    if (parts.length > 0 || calls.length > 0)
      messages.push({ role, content: contentOf(parts), ...(calls.length > 0 && { tool_calls: [...calls] }) });
    parts = [];
    calls.length = 0;
  };
  for (const [i, part] of given.entries()) {
    if (!isJsonObject(part)) {
      parts.push(typeof part === 'string' ? { type: 'text', text: part } : { type: 'unknown', value: part });
      continue;
    }
    const type = textIn(part['type']);
    if (type === 'tool_call_response') {
      flush();
      messages.push(resultOf(part));
      continue;
    }
    const call = type === 'tool_call' ? toolCallIn(part, i) : null;
    if (call === null) parts.push(partOf(part));
    else calls.push(call);
  }
  flush();
  return messages.length === 0 ? [{ role, content: '' }] : messages;
};

/** A single text is a content of its own: most programs send it like that. */
const contentOf = (parts: readonly WideJson[]): WideJson => {
  const [only] = parts;
  if (only === undefined) return null;
  if (parts.length === 1 && isJsonObject(only) && only['type'] === 'text' && Object.keys(only).length === 2)
    return only['text'] ?? null;
  return parts;
};

const partOf = (part: WideJsonObject): WideJsonObject => {
  const { type, content, ...rest } = part;
  if (type === 'text' && typeof content === 'string') return { type: 'text', text: content, ...rest };
  if ((type === 'reasoning' || type === 'thinking') && typeof content === 'string')
    return { type: 'thinking', thinking: content, ...rest };
  return part;
};

const resultOf = (part: WideJsonObject): WideJsonObject => {
  const response = firstOf(part['response'], part['result'], part['content']);
  const name = wordIn(part['name']);
  return {
    role: 'tool',
    tool_call_id: textIn(part['id']) ?? '',
    ...(name !== null && { name }),
    content: response === undefined ? '' : (textIn(response) ?? textsOf(response) ?? jsonText(response)),
    ...(part['is_error'] === true && { is_error: true }),
  };
};

/** A list of text parts stays a list. */
const textsOf = (response: WideJson): WideJson | null => {
  const parts = listOf(response);
  const isTexts = parts.length > 0 && parts.every((part) => isJsonObject(part) && part['type'] === 'text');
  return isTexts ? parts : null;
};
