import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isList } from '../body.ts';
import { jsonText } from '../json-text.ts';
import { contentFor, plainText, type PartForm } from '../write/content.ts';

/** What other APIs noted beside a message in the form of the chat API (decision: see the readers). */
const FOREIGN: readonly string[] = ['same_message', 'message_fields', 'item', 'items', 'part'];
const FOREIGN_IN_CALL: readonly string[] = ['before', 'item', 'part', 'cache_control'];

const chatParts: PartForm = {
  text: (_role, part) => plainText(part),
  image: (part, url) => (part['type'] === 'image_url' ? part : { type: 'image_url', image_url: { url } }),
  // Mistral's thinking is a list of parts, where that of others is a text.
  isOwnNote: ({ type, thinking }) => type === 'thinking' && isList(thinking),
};

/** The messages for OpenAI's chat API: those that came from it are unchanged. */
export const chatMessages = (messages: readonly WideJsonObject[]): WideJsonObject[] =>
  messages.map((message) => {
    const { role, content, tool_calls: calls } = message;
    const made: Record<string, WideJson> = Object.fromEntries(
      Object.entries(message).filter(([name]) => !FOREIGN.includes(name)),
    );
    if (content !== undefined) made['content'] = chatContent(role as string, content, isList(calls));
    if (isList(calls)) made['tool_calls'] = calls.map(chatCall);
    if (role === 'tool') delete made['is_error'];
    return made;
  });

const chatContent = (role: string, content: WideJson, hasCalls: boolean): WideJson => {
  if (!isList(content)) return content;
  const parts = contentFor(chatParts, role, content) as readonly WideJson[];
  if (parts.length === 0 && content.length > 0) return hasCalls ? null : '';
  if (role !== 'tool') return parts;
  // A result is a text here: what else a tool gave is shown as its JSON.
  return parts.every((part) => isJsonObject(part) && part['type'] === 'text') ? parts : jsonText(content);
};

const chatCall = (call: WideJson): WideJson =>
  isJsonObject(call)
    ? Object.fromEntries(Object.entries(call).filter(([name]) => !FOREIGN_IN_CALL.includes(name)))
    : call;
