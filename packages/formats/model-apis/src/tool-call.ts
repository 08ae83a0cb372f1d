import { isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';

/** A call of a tool that a model made. */
export type CalledTool = {
  /** Null: it has none. */
  readonly id: string | null;
  readonly name: string;
  /** What the tool is called with: JSON where it can be parsed. Null: nothing. */
  readonly input: WideJson;
};

/**
 * A call of a tool in the form of any API: `{"id":"1","function":{"name":"add","arguments":"{}"}}`, or
 * `{"type":"tool_use","id":"1","name":"add","input":{}}`. Null: it is none.
 */
export const toolCallOf = (given: WideJson): CalledTool | null => {
  if (!isJsonObject(given)) return null;
  const inner = given['function'] ?? given['custom'] ?? given;
  if (!isJsonObject(inner)) return null;
  const { name, tool } = inner;
  const called = typeof name === 'string' ? name : tool;
  if (typeof called !== 'string') return null;
  const { id: own, call_id: other } = given;
  const id = typeof own === 'string' ? own : typeof other === 'string' ? other : null;
  return { id, name: called, input: parsedOf(inner['arguments'] ?? inner['input'] ?? null) };
};

/** The calls of tools in a message of a model, in the form that answers are recorded in. */
export const toolCallsOf = (message: WideJson): readonly CalledTool[] => {
  const made = isJsonObject(message) ? message['tool_calls'] : null;
  return Array.isArray(made) ? (made as readonly WideJson[]).flatMap((each) => toolCallOf(each) ?? []) : [];
};

const parsedOf = (given: WideJson): WideJson => {
  if (typeof given !== 'string') return given;
  try {
    return parseWideJson(given);
  } catch {
    return given;
  }
};
