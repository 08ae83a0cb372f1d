import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';

/** Turns messages of the form `{role, parts}` into those of the chat API; other messages stay as they are. */
export type PartsReader = (message: WideJsonObject) => readonly WideJsonObject[];

/** A call of a tool and its result, as far as a part has them. */
type ToolPart = {
  readonly name: string;
  /** Null: the part names no call. */
  readonly id: string | null;
  readonly arguments?: WideJson;
  readonly result?: WideJson;
};

/**
 * Opens the reader of one conversation. Gemini's messages (`{role: 'model', parts: [{text}, {functionCall}]}`) and those of
 * the AI SDK's page (`{role, parts: [{type: 'text', text}, {type: 'tool-search', toolCallId, input, output}]}`) become
 * messages with `content` and `tool_calls`, and a `tool` message for each result. A call without an id gets one from its
 * number; a result without an id answers the oldest open call of its name. Parts of any other kind stay parts of the
 * content.
 */
export const openPartsReader = (): PartsReader => {
  const waiting: { readonly name: string; readonly id: string }[] = [];
  let calls = 0;

  const callId = ({ name, id }: ToolPart): string => {
    calls += 1;
    const own = id ?? `call-${calls}`;
    waiting.push({ name, id: own });
    return own;
  };
  const answeredId = ({ name, id }: ToolPart): string => {
    const at = waiting.findIndex((call) => (id === null ? call.name === name : call.id === id));
    const [call] = at === -1 ? [] : waiting.splice(at, 1);
    return id ?? call?.id ?? `call-of-${name}`;
  };

  return (message) => {
    const { parts, ...fields } = message;
    if (!Array.isArray(parts) || fields['content'] !== undefined) return [message];
    const role = fields['role'] === 'model' ? 'assistant' : fields['role'];
    const messages: WideJsonObject[] = [];
    let content: WideJson[] = [];
    let made: WideJsonObject[] = [];
    let results: WideJsonObject[] = [];
    const flush = (isLast: boolean): void => {
      const holds = content.length > 0 || made.length > 0;
      // A message with results alone is those results; one without anything is itself.
      if (holds || (isLast && messages.length === 0 && results.length === 0))
        messages.push({
          ...(messages.length === 0 ? fields : {}),
          role: role as WideJson,
          content: contentOf(content, made.length > 0),
          ...(made.length === 0 ? {} : { tool_calls: made }),
        });
      messages.push(...results);
      [content, made, results] = [[], [], []];
    };
    for (const part of parts as readonly WideJson[]) {
      const tool = toolOf(part);
      if (tool === null) {
        // What follows a result was said after it.
        if (results.length > 0) flush(false);
        content.push(part);
        continue;
      }
      const { name } = tool;
      const id = tool.arguments === undefined ? null : callId(tool);
      if (id !== null) {
        const text =
          typeof tool.arguments === 'string' ? tool.arguments : canonicalJson(tool.arguments ?? {});
        made.push({ id, type: 'function', function: { name, arguments: text } });
      }
      if (tool.result === undefined) continue;
      const answered = answeredId(id === null ? tool : { ...tool, id });
      const text = typeof tool.result === 'string' ? tool.result : canonicalJson(tool.result);
      results.push({ role: 'tool', tool_call_id: answered, name, content: text });
    }
    flush(true);
    return messages;
  };
};

/** One plain text is the content; other parts are a list, a plain text among them as the chat API has it. */
const contentOf = (parts: readonly WideJson[], hasCalls: boolean): WideJson => {
  if (parts.length === 0) return hasCalls ? null : '';
  const [only] = parts;
  const text = parts.length === 1 && isJsonObject(only) ? plainText(only) : undefined;
  if (text !== undefined) return text;
  return parts.map((part) =>
    isJsonObject(part) && typeof part['text'] === 'string' && part['type'] === undefined
      ? { type: 'text', ...part }
      : part,
  );
};

const plainText = (part: WideJsonObject): string | undefined => {
  const { text, type = 'text', ...rest } = part;
  return typeof text === 'string' && type === 'text' && Object.keys(rest).length === 0 ? text : undefined;
};

const toolOf = (part: WideJson): ToolPart | null => {
  if (!isJsonObject(part)) return null;
  const { functionCall: call, functionResponse: response } = part;
  if (isJsonObject(call))
    return { name: textOf(call['name']), id: idOf(call['id']), arguments: call['args'] ?? {} };
  if (isJsonObject(response))
    return { name: textOf(response['name']), id: idOf(response['id']), result: response['response'] ?? '' };
  return toolOfPage(part);
};

/** Parts of the AI SDK: `tool-NAME`, `dynamic-tool`, and `tool-invocation` of its older versions. */
const toolOfPage = (part: WideJsonObject): ToolPart | null => {
  const { type } = part;
  if (type === 'tool-invocation' && isJsonObject(part['toolInvocation'])) {
    const { toolName, toolCallId, args = {}, result } = part['toolInvocation'];
    const done = result === undefined ? {} : { result };
    return { name: textOf(toolName), id: idOf(toolCallId), arguments: args, ...done };
  }
  if (typeof type !== 'string' || !(type === 'dynamic-tool' || type.startsWith('tool-'))) return null;
  if (part['toolCallId'] === undefined) return null;
  const name = type === 'dynamic-tool' ? textOf(part['toolName']) : type.slice('tool-'.length);
  const result = part['output'] ?? part['errorText'];
  const done = result === undefined ? {} : { result };
  return { name, id: idOf(part['toolCallId']), arguments: part['input'] ?? {}, ...done };
};

const textOf = (value: WideJson | undefined): string => (typeof value === 'string' ? value : 'unknown');

const idOf = (value: WideJson | undefined): string | null => (typeof value === 'string' ? value : null);
