import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { jsonText } from '@stemma/model-apis';
import type { DroppedNames } from '../dropped-names.ts';
import { type Field, isList, listOf, nonEmpty, objectOf, textOf } from '../fields.ts';

/** Reads the messages of one sample: of Inspect's form into that of the chat API. */
export type SampleMessages = {
  /** @throws E_INPUT_SHAPE for a message without a role or a content that is none, E_INPUT_TOO_LARGE */
  readonly read: (message: WideJson, where: string) => WideJsonObject;
  /** A text, whose attachment stands in its place. */
  readonly text: (text: string) => string;
  /** A value with all its attachments. */
  readonly whole: (value: WideJson) => WideJson;
  /** From here on as many characters may come from attachments again: one request is held at a time. */
  readonly begin: () => void;
  /** True if something that a text refers to is not in the log. */
  readonly hasLost: () => boolean;
};

/** The most characters that the attachments of one request may have together: a text may be named any number of times. */
const MOST_ATTACHED = 256 * 1024 * 1024;

const REFERENCE = /^(?:attachment|tc):\/\//u;
/** What Inspect writes in the place of images if it is told to log none. */
const REMOVED = '<base64-data-removed>';

const KNOWN: ReadonlySet<string> = new Set([
  ...['role', 'content', 'tool_calls', 'tool_call_id', 'function', 'error', 'tool_error', 'model'],
]);
const KNOWN_OF_CALL: ReadonlySet<string> = new Set(['id', 'function', 'arguments', 'type', 'parse_error']);

/** @param attachments the texts of the sample that others refer to, by their hashes or their numbers */
export const openSampleMessages = (attachments: WideJson, dropped: DroppedNames): SampleMessages => {
  const state = { attached: 0, lost: false };
  const text = (said: string): string => {
    if (said === REMOVED) state.lost = true;
    const key = said.replace(REFERENCE, '');
    if (key === said) return said;
    const found = attachmentAt(attachments, key);
    if (found === undefined) {
      state.lost = true;
      return said;
    }
    state.attached += found.length;
    if (state.attached > MOST_ATTACHED)
      throw fail(
        'E_INPUT_TOO_LARGE',
        `the attachments of a request have more than ${MOST_ATTACHED} characters`,
      );
    if (found === REMOVED) state.lost = true;
    return found;
  };
  const whole = (value: WideJson): WideJson => {
    if (typeof value === 'string') return text(value);
    if (isList(value)) return value.map(whole);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, whole(item)]));
  };
  const read = (message: WideJson, where: string): WideJsonObject => {
    if (!isJsonObject(message) || typeof message['role'] !== 'string')
      throw fail('E_INPUT_SHAPE', `${where} is no message of Inspect: it has no role`);
    const { role } = message;
    dropped.fields('message', message, KNOWN);
    const content = contentOf(message['content'], where);
    const calls = listOf(message['tool_calls']);
    const tool = role === 'tool' ? toolFields(message) : {};
    return {
      role,
      content: role === 'tool' && content === '' ? (errorText(message) ?? '') : content,
      ...(role === 'assistant' && calls.length > 0 && { tool_calls: calls.map(callOf) }),
      ...tool,
    };
  };
  const contentOf = (content: Field, where: string): WideJson => {
    if (typeof content === 'string') return text(content);
    if (content === undefined || content === null) return '';
    if (!isList(content)) throw fail('E_INPUT_SHAPE', `the content of ${where} is neither a text nor a list`);
    return content.map((part) => partOf(whole(part)));
  };
  const callOf = (call: WideJson, index: number): WideJsonObject => {
    const said = objectOf(call);
    dropped.fields('tool call', said, KNOWN_OF_CALL);
    const name = textOf(said['function']) ?? '';
    const given = whole(said['arguments'] ?? {});
    const written = typeof given === 'string' ? given : jsonText(given);
    const id = nonEmpty(said['id']) ?? `${name}:${index}`;
    const fault = nonEmpty(said['parse_error']);
    return {
      id,
      ...(said['type'] === 'custom'
        ? { type: 'custom', custom: { name, input: written } }
        : { type: 'function', function: { name, arguments: written } }),
      ...(fault !== undefined && { parse_error: text(fault) }),
    };
  };
  const toolFields = (message: WideJsonObject): WideJsonObject => {
    const [id, name, error] = [
      nonEmpty(message['tool_call_id']),
      nonEmpty(message['function']),
      errorText(message),
    ];
    return {
      ...(id !== undefined && { tool_call_id: id }),
      ...(name !== undefined && { name }),
      ...(error !== undefined && {
        is_error: true,
        error: whole(message['error'] ?? message['tool_error'] ?? error),
      }),
    };
  };
  const errorText = (message: WideJsonObject): string | undefined => {
    const said = nonEmpty(objectOf(message['error'])['message']) ?? nonEmpty(message['tool_error']);
    return said === undefined ? (isJsonObject(message['error']) ? '' : undefined) : text(said);
  };
  return {
    read,
    text,
    whole,
    begin: () => {
      state.attached = 0;
    },
    hasLost: () => {
      const { lost } = state;
      state.lost = false;
      return lost;
    },
  };
};

const attachmentAt = (attachments: WideJson, key: string): string | undefined => {
  if (isList(attachments)) return textOf(/^\d{1,9}$/u.test(key) ? attachments[Number(key)] : undefined);
  return isJsonObject(attachments) && Object.hasOwn(attachments, key) ? textOf(attachments[key]) : undefined;
};

/** A part of a content as chat or Anthropic's API has it; one that neither has stays as it stands. */
const partOf = (part: WideJson): WideJson => {
  if (typeof part === 'string') return { type: 'text', text: part };
  if (!isJsonObject(part)) return part;
  const { type, internal: _internal, ...rest } = withoutNulls(part);
  switch (type) {
    case 'reasoning':
      return thinkingOf(rest);
    case 'image':
      return typeof rest['image'] === 'string'
        ? { type: 'image_url', image_url: { url: rest['image'], ...detailOf(rest['detail']) } }
        : { type, ...rest };
    case undefined:
      return part;
    default:
      return { type, ...rest };
  }
};

const detailOf = (detail: Field): WideJsonObject =>
  typeof detail === 'string' && detail !== 'auto' ? { detail } : {};

const thinkingOf = ({ reasoning, signature, redacted, summary }: WideJsonObject): WideJsonObject =>
  redacted === true
    ? { type: 'redacted_thinking', data: reasoning ?? '', ...(summary !== undefined && { summary }) }
    : {
        type: 'thinking',
        thinking: reasoning ?? '',
        ...(signature !== undefined && { signature }),
        ...(summary !== undefined && { summary }),
      };

const withoutNulls = (object: WideJsonObject): WideJsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
