import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import {
  answerError,
  countOrNull,
  errorOf,
  NO_ANSWER,
  type AnswerError,
  type ModelAnswer,
  type TokenUsage,
} from '../answer.ts';
import type { AnswerStream, StreamBlock } from '../answer-stream.ts';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';
import { copyOfObject, grow, inOrder, type Growing } from '../growing.ts';

/** What a response of Cohere's second API says. */
export const cohereAnswer = (body: WideJsonObject): ModelAnswer => {
  const { message } = body;
  return {
    answer: isJsonObject(message) ? { ...message, role: 'assistant' } : null,
    finishReason: textOrNull(body['finish_reason']),
    model: textOrNull(body['model']),
    id: textOrNull(body['id']),
    usage: cohereUsage(body['usage']),
    error: refusalIn(body),
    complete: true,
    pending: false,
  };
};

/** An error is `{message}` with a text; that of an answer is an object. */
const refusalIn = ({ message, error }: WideJsonObject): AnswerError | null =>
  typeof message === 'string' ? answerError(null, message) : errorOf(error);

/** `tokens` are those of the model, `billed_units` leave out what is not paid for. */
const cohereUsage = (usage: WideJson | undefined): TokenUsage | null => {
  if (!isJsonObject(usage)) return null;
  const [tokens, billed] = [objectOrEmpty(usage['tokens']), objectOrEmpty(usage['billed_units'])];
  return {
    input: countOrNull(tokens['input_tokens'] ?? billed['input_tokens']),
    output: countOrNull(tokens['output_tokens'] ?? billed['output_tokens']),
    cached: countOrNull(usage['cached_tokens']),
    cacheWrite: null,
    reasoning: null,
  };
};

/** The lists of a message that grow by the index of an event, and what an event calls the item. */
const LISTS: Readonly<Record<string, 'content' | 'tool_calls' | 'citations'>> = {
  'content-start': 'content',
  'content-delta': 'content',
  'tool-call-start': 'tool_calls',
  'tool-call-delta': 'tool_calls',
  'citation-start': 'citations',
};

/** The events of Cohere's second API, which `message-end` ends. */
export const openCohereStream = (): AnswerStream => {
  let answer: ModelAnswer = NO_ANSWER;
  let message: Growing | null = null;
  const lists = {
    content: new Map<number, Growing>(),
    tool_calls: new Map<number, Growing>(),
    citations: new Map<number, Growing>(),
  };
  const addItem = (
    list: keyof typeof lists,
    index: WideJson | undefined,
    item: WideJson | undefined,
  ): void => {
    if (typeof index !== 'number' || !isJsonObject(item)) return;
    const known = lists[list].get(index) ?? {};
    lists[list].set(index, known);
    for (const [name, value] of Object.entries(item)) grow(known, name, value);
  };
  const add = (event: WideJsonObject): void => {
    const type = textOrNull(event['type']) ?? '';
    const delta = objectOrEmpty(event['delta']);
    const said = objectOrEmpty(delta['message']);
    const list = Object.hasOwn(LISTS, type) ? LISTS[type] : undefined;
    if (list !== undefined) {
      addItem(list, event['index'], said[list]);
      return;
    }
    if (type === 'message-start') {
      message = copyOfObject(delta['message']) ?? {};
      answer = { ...answer, id: textOrNull(event['id']), model: textOrNull(delta['model']) };
    } else if (type === 'tool-plan-delta') {
      message ??= {};
      grow(message, 'tool_plan', said['tool_plan'] ?? null);
    } else if (type === 'message-end') {
      const error = textOrNull(delta['error']);
      answer = {
        ...answer,
        finishReason: textOrNull(delta['finish_reason']),
        usage: cohereUsage(delta['usage']),
        error: error === null ? answer.error : answerError(textOrNull(delta['finish_reason']), error),
        complete: true,
      };
    } else if (type === '' || type === 'error')
      answer = { ...answer, error: answer.error ?? refusalIn(event) };
  };
  return {
    add,
    done: () => undefined,
    answer: () => ({ ...answer, answer: message === null ? null : whole(message, lists) }),
  };
};

/** The message with its lists; one that is empty, as an event began it, is none. */
const whole = (
  message: Growing,
  lists: Readonly<Record<string, ReadonlyMap<number, Growing>>>,
): WideJsonObject => {
  const kept = Object.entries(message).filter(
    ([name, value]) => !(isList(value) && value.length === 0) && !(name === 'tool_plan' && value === ''),
  );
  const made = Object.entries(lists).flatMap(([name, items]): [string, WideJson][] =>
    items.size === 0 ? [] : [[name, inOrder(items)]],
  );
  return { ...Object.fromEntries([...kept, ...made]), role: 'assistant' };
};

const TEXT = /^delta\.message\.(content\.text|content\.thinking|tool_plan|tool_calls\.function\.arguments)$/;

/** Texts and arguments, by their index. */
export const cohereBlock: StreamBlock = (path, valueAt) => {
  const text = TEXT.exec(path);
  return text === null ? null : `${text[1] ?? ''} ${valueAt('index') ?? ''}`;
};
