/*
 * The prompt of the AI SDK (`ai`, versions 5 and 6) as messages of OpenAI's chat API. It is read as it comes: nothing of the
 * SDK is imported, and a part of an unknown kind is kept as it is.
 */
import { defined } from '@stemma/values';
type Part = Readonly<Record<string, unknown>>;
type ChatMessage = Record<string, unknown>;

/** @param prompt what a middleware gets as `params.prompt` */
export const chatMessagesOf = (prompt: unknown): ChatMessage[] =>
  Array.isArray(prompt) ? prompt.flatMap((message) => messagesOf(message as Part)) : [];

const messagesOf = ({ role, content }: Part): ChatMessage[] => {
  const parts = Array.isArray(content) ? (content as readonly Part[]) : [];
  if (role === 'assistant') return [assistantOf(parts)];
  if (role === 'tool') return parts.map(toolResultOf);
  if (!Array.isArray(content)) return [{ role, content }];
  const texts = parts.map(({ type, text }) => (type === 'text' ? text : undefined));
  if (parts.length === 1 && typeof texts[0] === 'string') return [{ role, content: texts[0] }];
  return [{ role, content: parts.map(userPartOf) }];
};

const userPartOf = ({ type, text, mediaType, data, ...rest }: Part): Part => {
  if (type === 'text') return { type, text };
  const media = textOr(mediaType, '');
  if (type === 'file' && media.startsWith('image/'))
    return { type: 'image_url', image_url: { url: addressOf(data, media) } };
  if (type === 'file') return { type: 'file', file: { file_data: addressOf(data, media) } };
  return { type, text, mediaType, data, ...rest };
};

/** The address of a file: its own, or one that holds it. */
const addressOf = (data: unknown, media: string): string => {
  if (data instanceof URL) return data.href;
  if (data instanceof Uint8Array) {
    let bytes = '';
    for (const byte of data) bytes += String.fromCharCode(byte);
    return `data:${media};base64,${btoa(bytes)}`;
  }
  const text = String(data);
  return /^(https?|data):/.test(text) ? text : `data:${media};base64,${text}`;
};

/** The message of an assistant, from its parts: those of a prompt, or those of an answer. */
export const assistantOf = (parts: readonly Part[]): ChatMessage => {
  const join = (kind: string): string =>
    parts
      .filter(({ type }) => type === kind)
      .map(({ text }) => textOr(text, ''))
      .join('');
  const calls = parts.filter(({ type }) => type === 'tool-call').map(toolCallOf);
  const [text, reasoning] = [join('text'), join('reasoning')];
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
};

const toolCallOf = ({ toolCallId, toolName, input }: Part): Part => ({
  id: toolCallId,
  type: 'function',
  function: { name: toolName, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
});

const toolResultOf = ({ toolCallId, output }: Part): ChatMessage => {
  const { type, value, reason } = (output ?? {}) as Part;
  if (type === 'execution-denied')
    return { role: 'tool', tool_call_id: toolCallId, content: textOr(reason, 'denied') };
  const content = typeof value === 'string' ? value : JSON.stringify(value ?? output ?? null);
  return { role: 'tool', tool_call_id: toolCallId, content };
};

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

/** The tools as the chat API has them. */
export const chatToolsOf = (tools: unknown): object[] | undefined =>
  Array.isArray(tools)
    ? (tools as readonly Part[]).map(({ type, name, description, inputSchema, ...rest }) =>
        type === 'function'
          ? {
              type,
              function: {
                name,
                ...defined({ description }),
                parameters: inputSchema,
              },
            }
          : { type, name, ...rest },
      )
    : undefined;
