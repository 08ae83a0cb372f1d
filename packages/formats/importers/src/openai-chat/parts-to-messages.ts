import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { CHAT_ROLES } from '@stemma/model-apis';
import { defined } from '@stemma/values';

/** True for a message that the reader of parts turns into others. */
export const isOfParts = (message: WideJson): boolean => isJsonObject(message) && partsOf(message) !== null;

/** The parts of a message: its `parts`, or a content in which the AI SDK calls tools. */
const partsOf = ({ parts, content }: WideJsonObject): readonly WideJson[] | null => {
  if (Array.isArray(parts) && content === undefined) return parts as readonly WideJson[];
  const listed = Array.isArray(content) ? (content as readonly WideJson[]) : [];
  return parts === undefined && listed.some((part) => isJsonObject(part) && isOfModelMessage(part))
    ? listed
    : null;
};

/** A call or result in a `ModelMessage` of the AI SDK: `{type: 'tool-call', toolCallId, toolName, input}`. */
const isOfModelMessage = ({ type, toolCallId, toolName }: WideJsonObject): boolean =>
  (type === 'tool-call' || type === 'tool-result') &&
  typeof toolCallId === 'string' &&
  typeof toolName === 'string';

/** Turns messages of the form `{role, parts}` into those of the chat API; other messages stay as they are. */
export type PartsReader = (message: WideJsonObject) => readonly WideJsonObject[];

/** A call of a tool and its result, as far as a part has them. */
type ToolPart = {
  readonly name: string;
  /** Null: the part names no call. */
  readonly id: string | null;
  readonly arguments?: WideJson;
  readonly result?: WideJson;
  readonly failed?: boolean;
  /** What else the part says of the call, or of a result that stands alone. */
  readonly rest: WideJsonObject;
};

/**
 * Opens the reader of one conversation. Gemini's messages (`{role: 'model', parts: [{text}, {functionCall}]}`) and those of
 * the AI SDK's page (`{role, parts: [{type: 'text', text}, {type: 'tool-search', toolCallId, input, output}]}`) become
 * messages with `content` and `tool_calls`, and a `tool` message for each result. A call without an id gets one from its
 * number; a result without an id answers the oldest open call of its name. Parts of any other kind stay parts of the
 * content, and what else a part says stays with the call or the result that it became.
 */
export const openPartsReader = (): PartsReader => {
  const waiting: { readonly name: string; readonly id: string }[] = [];
  let calls = 0;

  const callId = ({ name, id }: Pick<ToolPart, 'name' | 'id'>): string => {
    calls += 1;
    const own = id ?? `call-${calls}`;
    waiting.push({ name, id: own });
    return own;
  };
  const answeredId = ({ name, id }: Pick<ToolPart, 'name' | 'id'>): string => {
    const at = waiting.findIndex((call) => (id === null ? call.name === name : call.id === id));
    const [call] = at === -1 ? [] : waiting.splice(at, 1);
    return id ?? call?.id ?? `call-of-${name}`;
  };

  return (message) => {
    const parts = partsOf(message);
    const { parts: _parts, content: _content, ...fields } = message;
    const role = fields['role'] === 'model' ? 'assistant' : fields['role'];
    // A role that there is not is refused by whoever takes the message.
    if (parts === null || typeof role !== 'string' || !CHAT_ROLES.has(role)) return [message];
    const messages: WideJsonObject[] = [];
    let content: WideJson[] = [];
    let made: WideJsonObject[] = [];
    let results: WideJsonObject[] = [];
    const flush = (isLast: boolean): void => {
      const holds = content.length > 0 || made.length > 0;
      // A message with results alone is those results; one without anything is itself.
      if (holds || (isLast && messages.length === 0 && results.length === 0)) {
        const isMixed = made.some(({ before }) => (before as number) < content.length);
        messages.push({
          ...(messages.length === 0 ? fields : {}),
          role,
          content: isMixed ? content.map(asListed) : contentOf(content, made.length > 0),
          ...(made.length === 0
            ? {}
            : {
                tool_calls: made.map(({ before, ...call }) =>
                  (before as number) < content.length ? { ...call, before: before as number } : call,
                ),
              }),
        });
      } else if (messages.length === 0) {
        const { role: _role, ...others } = fields;
        const [first = {}, ...rest] = results;
        if (Object.keys(others).length > 0) results = [{ ...first, message_fields: others }, ...rest];
      }
      messages.push(...results);
      [content, made, results] = [[], [], []];
    };
    for (const part of parts) {
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
        const before = content.length;
        made.push({ id, type: 'function', function: { name, arguments: text }, ...tool.rest, before });
      }
      if (tool.result === undefined) continue;
      const answered = answeredId(id === null ? tool : { ...tool, id });
      const text = typeof tool.result === 'string' ? tool.result : canonicalJson(tool.result);
      results.push({
        ...{ role: 'tool', tool_call_id: answered, name, content: text },
        ...(tool.failed === true ? { is_error: true } : {}),
        ...(id === null ? tool.rest : {}),
      });
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
  return parts.map(asListed);
};

const asListed = (part: WideJson): WideJson =>
  isJsonObject(part) && typeof part['text'] === 'string' && part['type'] === undefined
    ? { type: 'text', ...part }
    : part;

const plainText = (part: WideJsonObject): string | undefined => {
  const { text, type = 'text', ...rest } = part;
  return typeof text === 'string' && type === 'text' && Object.keys(rest).length === 0 ? text : undefined;
};

const toolOf = (part: WideJson): ToolPart | null => {
  if (!isJsonObject(part)) return null;
  const { functionCall: call, functionResponse: response, ...beside } = part;
  if (isJsonObject(call)) {
    const { name, id, args = {}, ...fields } = call;
    const rest = restOf({ ...beside, ...defined({ functionResponse: response }) }, 'functionCall', {
      ...fields,
      ...strange({ name, id }),
    });
    return { name: textOf(name), id: idOf(id), arguments: args, rest };
  }
  if (isJsonObject(response)) {
    const { name, id, response: result = '', ...fields } = response;
    const rest = restOf({ ...beside, ...defined({ functionCall: call }) }, 'functionResponse', {
      ...fields,
      ...strange({ name, id }),
    });
    return { name: textOf(name), id: idOf(id), result, rest };
  }
  return toolOfPage(part);
};

/** Parts of the AI SDK: `tool-NAME`, `dynamic-tool`, `tool-invocation` of its older versions, and those of a `ModelMessage`. */
const toolOfPage = (part: WideJsonObject): ToolPart | null => {
  const { type, ...beside } = part;
  if (type === 'tool-invocation' && isJsonObject(part['toolInvocation'])) {
    const { toolInvocation, ...others } = beside;
    const { toolName, toolCallId, args = {}, result, ...fields } = toolInvocation as WideJsonObject;
    const done = result === undefined ? {} : { result };
    const rest = restOf(others, 'toolInvocation', { ...fields, ...strange({ toolName, toolCallId }) });
    return { name: textOf(toolName), id: idOf(toolCallId), arguments: args, ...done, rest };
  }
  if (isOfModelMessage(part)) return toolOfModel(part);
  if (typeof type !== 'string' || !(type === 'dynamic-tool' || type.startsWith('tool-'))) return null;
  if (part['toolCallId'] === undefined) return null;
  const { toolCallId, input = {}, output, errorText, ...named } = beside;
  const { toolName, ...others } = named;
  const isDynamic = type === 'dynamic-tool';
  const name = isDynamic ? textOf(toolName) : type.slice('tool-'.length);
  const result = output ?? errorText;
  const done = result === undefined ? {} : { result };
  const failed = part['state'] === 'output-error' || (output === undefined && errorText !== undefined);
  const rest = restOf(isDynamic ? others : named, 'tool', {
    ...strange({ toolCallId, ...(isDynamic ? { toolName } : {}) }),
    ...(output !== undefined && errorText !== undefined ? { errorText } : {}),
  });
  return { name, id: idOf(toolCallId), arguments: input, ...done, failed, rest };
};

/** Its outputs say what they are: `{type: 'json', value}`, `{type: 'error-text', value}`. */
const toolOfModel = (part: WideJsonObject): ToolPart => {
  const { type, toolCallId, toolName, input, args, output, result, ...beside } = part;
  const head = { name: textOf(toolName), id: idOf(toolCallId) };
  const given = output ?? result ?? '';
  if (type === 'tool-call')
    return {
      ...head,
      arguments: input ?? args ?? {},
      rest: restOf(beside, 'tool', {
        ...defined({ output, result }),
        ...(input !== undefined && args !== undefined ? { args } : {}),
      }),
    };
  const { value, ...about } = isJsonObject(given) ? given : {};
  const kind = about['type'];
  const isTyped = typeof kind === 'string' && value !== undefined;
  const failed = beside['isError'] === true || (isTyped && kind.startsWith('error'));
  const rest = restOf(beside, 'tool', {
    ...(isTyped ? { output: about } : {}),
    ...defined({ input, args }),
    ...(output !== undefined && result !== undefined ? { result } : {}),
  });
  return { ...head, result: isTyped ? value : given, failed, rest };
};

/** What of a part has no place in a call or result: as it stood in the part, or in what the part holds under a name. */
const restOf = (beside: WideJsonObject, under: string, within: WideJsonObject): WideJsonObject => {
  const part = { ...beside, ...(Object.keys(within).length === 0 ? {} : { [under]: within }) };
  return Object.keys(part).length === 0 ? {} : { part };
};

/** Names and ids that are no texts, which a call has no place for. */
const strange = (fields: { readonly [name: string]: WideJson | undefined }): WideJsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || typeof value === 'string' ? [] : [[name, value] as const],
    ),
  );

const textOf = (value: WideJson | undefined): string => (typeof value === 'string' ? value : 'unknown');

const idOf = (value: WideJson | undefined): string | null => (typeof value === 'string' ? value : null);
