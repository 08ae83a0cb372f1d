import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import type { TreeView } from '@stemma/history-store';
import { toOpenAIMessages } from '@stemma/importers';

/** A call of a tool in a message. */
export type ToolCall = {
  readonly id: string;
  readonly name: string;
  /** The text that the model wrote, which may be no JSON. */
  readonly arguments: string;
};

/** The messages that a view shows, in the form of OpenAI's chat API. */
export const messagesOf = ({ tree, payloads, thread }: TreeView): readonly WideJsonObject[] =>
  toOpenAIMessages(tree, payloads, thread);

const isList = (value: WideJson | undefined): value is readonly WideJson[] => Array.isArray(value);

/** The calls of tools in a message. */
export const toolCallsOf = (message: WideJsonObject | null | undefined): readonly ToolCall[] => {
  const calls = message?.['tool_calls'];
  if (!isList(calls)) return [];
  return calls.flatMap((call) => {
    if (!isJsonObject(call)) return [];
    const named = call['function'] ?? call['custom'];
    if (typeof call['id'] !== 'string' || !isJsonObject(named)) return [];
    const { name, arguments: given, input } = named;
    const text = given ?? input;
    return typeof name === 'string'
      ? [{ id: call['id'], name, arguments: typeof text === 'string' ? text : '' }]
      : [];
  });
};

/** The calls of the newest answer that no result follows yet. */
export const openToolCalls = (messages: readonly WideJsonObject[]): readonly ToolCall[] => {
  const at = messages.findLastIndex(({ role }) => role !== 'tool');
  const answered = new Set(messages.slice(at + 1).map(({ tool_call_id: id }) => id));
  return toolCallsOf(messages[at]).filter(({ id }) => !answered.has(id));
};

/** The arguments in canonical form, if they are JSON. */
export const canonicalArguments = (text: string): string => {
  try {
    return canonicalJson(parseWideJson(text.trim() === '' ? '{}' : text));
  } catch {
    return text;
  }
};

/** What makes two calls the same: the name, and the arguments whatever their order and spacing. */
export const sameCallKey = ({ name, arguments: text }: Pick<ToolCall, 'name' | 'arguments'>): string => {
  return JSON.stringify([name, canonicalArguments(text)]);
};

/**
 * An answer as the next request sends it back: without what is null or empty, and without what APIs add for their
 * readers.
 */
export const asHistoryMessage = (answer: WideJsonObject): WideJsonObject => {
  const kept: Record<string, WideJson> = {};
  for (const [name, value] of Object.entries(answer)) {
    if (name === 'annotations' || (value === null && name !== 'content')) continue;
    if (isList(value) && value.length === 0 && name !== 'content') continue;
    kept[name] = name === 'audio' && isJsonObject(value) ? { id: value['id'] ?? '' } : value;
  }
  return kept;
};
