import { fromWireJson, toWireJson } from '@stemma/api';

/** Longer arguments stay the text that they are. */
const MOST_ARGUMENTS = 200_000;

/**
 * JSON text with an indentation; digits of large integers stay what they are. `isOpened`: arguments of tool calls that are a
 * text of JSON are shown as the JSON that they are.
 */
export const indented = (text: string, isOpened = false): string => {
  try {
    return indent(fromWireJson(text), '', isOpened);
  } catch {
    return text;
  }
};

/** A value as JSON with an indentation. `isOpened` as above. */
export const indent = (value: unknown, space: string, isOpened: boolean): string => {
  const inner = space + '  ';
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${value.map((item) => inner + indent(item, inner, isOpened)).join(',\n')}\n${space}]`;
  if (typeof value !== 'object' || value === null) return toWireJson(value);
  const pairs = Object.entries(value).map(
    ([key, item]) =>
      `${inner}${JSON.stringify(key)}: ${indent(isOpened && key === 'arguments' ? openedArguments(item) : item, inner, isOpened)}`,
  );
  return pairs.length === 0 ? '{}' : `{\n${pairs.join(',\n')}\n${space}}`;
};

/** The arguments of a tool call that are written as a text of JSON, as the value that they are; anything else as it is. */
export const openedArguments = (value: unknown): unknown => {
  if (typeof value !== 'string' || value.length > MOST_ARGUMENTS || !/^\s*[[{]/.test(value)) return value;
  try {
    return fromWireJson(value);
  } catch {
    return value;
  }
};
