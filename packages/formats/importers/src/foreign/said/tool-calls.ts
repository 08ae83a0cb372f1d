import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { jsonText } from '@stemma/model-apis';
import { type Field, listOf, objectOf } from '../fields.ts';
import { firstOf, parsedIn, textIn, wordIn } from '../loose-values.ts';

/**
 * Calls of tools as the chat API has them, from what libraries write: `{id, function: {name, arguments}}`, `{id, name, args}`,
 * `{toolCallId, toolName, input}`, `{tool_call: {…}}`. A call without an id has its name and its number among them.
 */
export const toolCallsIn = (value: Field): readonly WideJsonObject[] =>
  listOf(parsedIn(value)).flatMap((call, index) => {
    const read = toolCallIn(call, index);
    return read === null ? [] : [read];
  });

/** One call; null where it has no name. */
export const toolCallIn = (value: WideJson, index: number): WideJsonObject | null => {
  const parsed = parsedIn(value);
  if (!isJsonObject(parsed)) return null;
  if (isJsonObject(parsed['tool_call'])) return toolCallIn(parsed['tool_call'], index);
  if (parsed['type'] === 'custom' && isJsonObject(parsed['custom'])) return parsed;
  const named = objectOf(parsed['function']);
  const name = wordIn(firstOf(named['name'], parsed['name'], parsed['toolName'], parsed['tool_name']));
  if (name === null) return null;
  const input = firstOf(
    named['arguments'],
    parsed['arguments'],
    parsed['args'],
    parsed['input'],
    parsed['parameters'],
  );
  const id = wordIn(firstOf(parsed['id'], parsed['toolCallId'], parsed['tool_call_id'], parsed['call_id']));
  return {
    id: id ?? `${name}:${index}`,
    type: 'function',
    function: { name, arguments: textIn(input) ?? (input === undefined ? '{}' : jsonText(input)) },
  };
};
