import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { errorOf, type AnswerError } from '../answer.ts';
import { isList, textOrNull } from '../body.ts';
import { copyOfObject, grow, inOrder, type Growing } from '../growing.ts';
import type { AnswerStream } from '../answer-stream.ts';
import { responsesAnswer } from './answer.ts';

/** The list of an item that a part belongs to, and the field of an event that says which of its parts it is. */
type PartOf = { readonly list: 'content' | 'summary'; readonly index: 'content_index' | 'summary_index' };

const CONTENT: PartOf = { list: 'content', index: 'content_index' };
const SUMMARY: PartOf = { list: 'summary', index: 'summary_index' };

/** Events that bring a part. */
const PARTS: Readonly<Record<string, PartOf>> = {
  'response.content_part.added': CONTENT,
  'response.content_part.done': CONTENT,
  'response.reasoning_summary_part.added': SUMMARY,
  'response.reasoning_summary_part.done': SUMMARY,
};

/** A text field of an item, or of a part of it. */
type TextField = { readonly field: string; readonly part?: PartOf };

/** Events whose `delta` goes on with a text. */
const DELTAS: Readonly<Record<string, TextField>> = {
  'response.output_text.delta': { field: 'text', part: CONTENT },
  'response.refusal.delta': { field: 'refusal', part: CONTENT },
  'response.reasoning_text.delta': { field: 'text', part: CONTENT },
  'response.reasoning_summary_text.delta': { field: 'text', part: SUMMARY },
  'response.function_call_arguments.delta': { field: 'arguments' },
  'response.mcp_call_arguments.delta': { field: 'arguments' },
  'response.custom_tool_call_input.delta': { field: 'input' },
  'response.code_interpreter_call_code.delta': { field: 'code' },
};

/** The events of OpenAI's Responses API: the last is `response.completed`, `.incomplete` or `.failed`. */
export const openResponsesStream = (): AnswerStream => {
  let response: WideJsonObject = {};
  let ended = false;
  let error: AnswerError | null = null;
  const items = new Map<number, Growing>();
  const addToItem = (type: string, event: WideJsonObject): void => {
    const index = event['output_index'];
    if (typeof index !== 'number') return;
    if (type === 'response.output_item.added' || type === 'response.output_item.done') {
      const item = copyOfObject(event['item']);
      if (item !== null) items.set(index, item);
      return;
    }
    const item = items.get(index);
    if (item !== undefined) addPart(item, type, event);
  };
  return {
    add: (event) => {
      const type = textOrNull(event['type']) ?? '';
      if (type === 'error') error ??= errorOf(event['error'] ?? event);
      else if (isJsonObject(event['response'])) {
        response = event['response'];
        ended ||= /^response\.(completed|incomplete|failed)$/.test(type);
      } else addToItem(type, event);
    },
    done: () => undefined,
    answer: () => {
      const output = isList(response['output']) ? response['output'] : [];
      const answer = responsesAnswer(response, ended && output.length > 0 ? output : inOrder(items));
      return { ...answer, error: answer.error ?? error, complete: ended };
    },
  };
};

const addPart = (item: Growing, type: string, event: WideJsonObject): void => {
  if (Object.hasOwn(PARTS, type)) {
    const part = copyOfObject(event['part']);
    const known = partAt(item, PARTS[type] as PartOf, event);
    if (part !== null && known !== null) Object.assign(known, part);
    return;
  }
  if (type === 'response.output_text.annotation.added') {
    const part = partAt(item, CONTENT, event);
    if (part !== null) grow(part, 'annotations', [event['annotation'] ?? null]);
    return;
  }
  const { delta } = event;
  if (!Object.hasOwn(DELTAS, type) || typeof delta !== 'string') return;
  const { field, part } = DELTAS[type] as TextField;
  const target = part === undefined ? item : partAt(item, part, event);
  if (target !== null) grow(target, field, delta);
};

/** The part of an item that an event names, or the next one; null if there are parts missing before it. */
const partAt = (item: Growing, { list, index }: PartOf, event: WideJsonObject): Growing | null => {
  const at = event[index];
  const parts = Array.isArray(item[list]) ? item[list] : (item[list] = []);
  if (typeof at !== 'number') return null;
  if (at === parts.length) parts.push({});
  const part: WideJson | undefined = parts[at];
  return isJsonObject(part) ? (part as Growing) : null;
};
