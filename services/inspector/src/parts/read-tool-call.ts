import { fromWireJson, type Excerpt } from '@stemma/api';

/** A call of a tool as it is shown, in the form of whatever API. */
export type ShownToolCall = { readonly name: string; readonly input: unknown; readonly raw: unknown };

type Fields = { readonly [name: string]: unknown };

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;

/** Arguments are often JSON in a text. */
const opened = (input: unknown): unknown => {
  if (typeof input !== 'string') return input;
  try {
    return fromWireJson(input);
  } catch {
    return input;
  }
};

/**
 * The call in a content: `{"function":{"name":"add","arguments":"{}"}}`, `{"name":"add","input":{}}`, or such a JSON as
 * a text. Null: it is none.
 */
export const readToolCall = (content: unknown): ShownToolCall | null => {
  const raw = opened(content);
  const call = fieldsOf(raw);
  const inner = fieldsOf(call?.['function'] ?? call?.['custom'] ?? call);
  const name = inner?.['name'] ?? inner?.['tool'];
  if (inner === null || typeof name !== 'string') return null;
  return { name, input: opened(inner['arguments'] ?? inner['input'] ?? null), raw };
};

/** The texts, thoughts and calls of a message of a model, as an answer is recorded. */
export const readAnswer = (
  message: unknown,
): {
  readonly texts: readonly string[];
  readonly thoughts: readonly string[];
  readonly calls: readonly ShownToolCall[];
} => {
  const fields = fieldsOf(message) ?? {};
  const { content } = fields;
  const parts = Array.isArray(content) ? (content as readonly unknown[]).map(fieldsOf) : [];
  const texts = typeof content === 'string' ? [content] : parts.map((part) => part?.['text']);
  const thoughts = [
    fields['reasoning_content'],
    fields['reasoning'],
    fields['thinking'],
    ...parts.map((part) => part?.['thinking']),
  ];
  const calls = Array.isArray(fields['tool_calls']) ? (fields['tool_calls'] as readonly unknown[]) : [];
  return {
    texts: texts.filter(isText),
    thoughts: thoughts.filter(isText),
    calls: calls.flatMap((call) => readToolCall(call) ?? []),
  };
};

const isText = (text: unknown): text is string => typeof text === 'string' && text !== '';

/** A list of objects of few plain fields, as a table: its columns; null: it is none. */
export const columnsOf = (list: readonly unknown[]): readonly string[] | null => {
  const rows = list.map(fieldsOf);
  if (rows.length === 0 || rows.some((row) => row === null)) return null;
  const names = new Set(rows.flatMap((row) => Object.keys(row ?? {})));
  const isPlain = rows.every((row) =>
    Object.values(row ?? {}).every((value) => typeof value !== 'object' || value === null),
  );
  return isPlain && names.size > 0 && names.size <= 5 ? [...names] : null;
};

/** The value of a content, as far as it is there: a text, or the JSON that it is. */
export const valueOfExcerpt = (content: Excerpt | null): unknown =>
  content === null ? null : content.form === 'json' && content.complete ? opened(content.text) : content.text;
