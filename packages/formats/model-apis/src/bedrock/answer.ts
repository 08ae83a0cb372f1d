import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import {
  answerError,
  countOrNull,
  NO_ANSWER,
  type AnswerError,
  type ModelAnswer,
  type TokenUsage,
} from '../answer.ts';
import type { AnswerStream, StreamBlock } from '../answer-stream.ts';
import { assistantMessage } from '../blocks/read-blocks.ts';
import { guarded, isList, objectOrEmpty, textOrNull, wellFormedJson } from '../body.ts';
import { copyOfObject, grow, inOrder, type Growing } from '../growing.ts';
import { converseForm } from './form.ts';

/** What an answer of Converse says. */
export const converseAnswer = (body: WideJsonObject): ModelAnswer => {
  const { content } = objectOrEmpty(objectOrEmpty(body['output'])['message']);
  return {
    ...NO_ANSWER,
    answer: isList(content) ? assistantMessage(content, converseForm.openReader()) : null,
    finishReason: textOrNull(body['stopReason']),
    usage: converseUsage(body['usage']),
    error: refusalIn(body),
    complete: true,
  };
};

/** `{message}` with a text, and perhaps its type, is an error. */
export const refusalIn = (body: WideJsonObject): AnswerError | null => {
  const message = textOrNull(body['message']) ?? textOrNull(body['Message']);
  const type = textOrNull(body['__type']);
  return message === null && type === null ? null : answerError(type, message ?? 'the API gives no message');
};

/** The error that a stream says: `{type, message}`; null: this event says none. */
export const exceptionIn = ({ exception }: WideJsonObject): AnswerError | null => {
  if (!isJsonObject(exception)) return null;
  const message = textOrNull(exception['message']) ?? 'the API gives no message';
  return answerError(textOrNull(exception['type']), message);
};

/** Its `inputTokens` do not hold what was read from or written to a cache. */
const converseUsage = (usage: WideJson | undefined): TokenUsage | null => {
  if (!isJsonObject(usage)) return null;
  const fresh = countOrNull(usage['inputTokens']);
  const cached = countOrNull(usage['cacheReadInputTokens']);
  const cacheWrite = countOrNull(usage['cacheWriteInputTokens']);
  const forHour = hourWrites(usage['cacheDetails']);
  return {
    input: fresh === null ? null : fresh + (cached ?? 0) + (cacheWrite ?? 0),
    output: countOrNull(usage['outputTokens']),
    cached,
    cacheWrite,
    ...(forHour !== null && { cacheWrite1h: forHour }),
    reasoning: null,
  };
};

const hourWrites = (details: WideJson | undefined): number | null => {
  if (!isList(details)) return null;
  const found = details.find((each) => isJsonObject(each) && each['ttl'] === '1h');
  return found === undefined ? null : countOrNull(objectOrEmpty(found)['inputTokens']);
};

/** A block that grows; `input` is the text of the arguments so far. */
type OpenBlock = { readonly block: Growing; input: string };

/** The events of ConverseStream: `messageStop` says why the model stopped, `metadata` behind it counts tokens. */
export const openConverseStream = (): AnswerStream => {
  let answer: ModelAnswer = NO_ANSWER;
  let isBegun = false;
  let isCounted = false;
  const blocks = new Map<number, OpenBlock>();
  const blockAt = (index: WideJson | undefined): OpenBlock | undefined => {
    if (typeof index !== 'number') return undefined;
    const known = blocks.get(index) ?? { block: {}, input: '' };
    blocks.set(index, known);
    return known;
  };
  return {
    add: (event) => {
      const error = exceptionIn(event);
      if (error !== null) answer = { ...answer, error: answer.error ?? error };
      const { messageStart, contentBlockStart: start, contentBlockDelta: delta } = event;
      if (isJsonObject(messageStart)) isBegun = true;
      if (isJsonObject(start)) {
        const open = blockAt(start['contentBlockIndex']);
        if (open !== undefined) Object.assign(open.block, copyOfObject(start['start']) ?? {});
      }
      if (isJsonObject(delta)) {
        const open = blockAt(delta['contentBlockIndex']);
        if (open !== undefined) addDelta(open, objectOrEmpty(delta['delta']));
      }
      const { messageStop, metadata } = event;
      if (isJsonObject(messageStop))
        answer = { ...answer, finishReason: textOrNull(messageStop['stopReason']) };
      if (!isJsonObject(metadata)) return;
      isCounted = true;
      answer = { ...answer, usage: converseUsage(metadata['usage']) };
    },
    done: () => undefined,
    answer: () => ({
      ...answer,
      answer:
        isBegun || blocks.size > 0
          ? assistantMessage(inOrder(blocks).map(closed), converseForm.openReader())
          : null,
      complete: answer.finishReason !== null && isCounted && answer.error === null,
    }),
  };
};

const addDelta = (open: OpenBlock, delta: WideJsonObject): void => {
  for (const [name, value] of Object.entries(delta))
    if (name === 'toolUse') open.input += textOrNull(objectOrEmpty(value)['input']) ?? '';
    else if (name === 'reasoningContent') addReasoning(open.block, objectOrEmpty(value));
    else if (name === 'citation') {
      const cited = copyOfObject(open.block['citationsContent'] ?? null) ?? {};
      grow(cited, 'citations', [value]);
      open.block['citationsContent'] = cited;
    } else grow(open.block, name, value);
};

/** Pieces of a thought and its signature are one `reasoningText` in a whole answer. */
const addReasoning = (block: Growing, { text, signature, ...rest }: WideJsonObject): void => {
  const known = copyOfObject(block['reasoningContent'] ?? null) ?? {};
  const thought = copyOfObject(known['reasoningText'] ?? null) ?? {};
  if (text !== undefined) grow(thought, 'text', text);
  if (signature !== undefined) grow(thought, 'signature', signature);
  if (Object.keys(thought).length > 0) known['reasoningText'] = thought;
  for (const [name, value] of Object.entries(rest)) grow(known, name, value);
  block['reasoningContent'] = known;
};

/** The block with its input; with the text of it if that is no JSON, as after an early end. */
const closed = ({ block, input }: OpenBlock): WideJsonObject => {
  const use = objectOrEmpty(block['toolUse']);
  if (block['toolUse'] === undefined) return block;
  if (input === '') return { ...block, toolUse: { input: {}, ...use } };
  const read = guarded(() => ({ ok: true, value: wellFormedJson(input, 'an input') }) as const);
  return { ...block, toolUse: { ...use, input: read.ok ? read.value : input } };
};

const TEXT = /^delta\.(text|toolUse\.input)$/;

/** Texts and inputs, by the index of their block. */
export const converseBlock: StreamBlock = (path, valueAt) => {
  const text = TEXT.exec(path);
  return text === null ? null : `${text[1] ?? ''} ${valueAt('contentBlockIndex') ?? ''}`;
};
