import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { answerError, NO_ANSWER, type ModelAnswer } from './answer.ts';
import { anthropicAnswer } from './anthropic/answer.ts';
import type { ModelApi } from './api-of.ts';
import { decodeText, guarded, recordable, wellFormedJson } from './body.ts';
import { chatAnswer } from './chat/answer.ts';
import { responsesAnswer } from './responses/answer.ts';
import { streamAnswer } from './stream.ts';

/** What the head of an answer says. */
export type AnswerHead = { readonly status: number; readonly contentType: string | null };

const READERS: { readonly [api in Exclude<ModelApi, 'other'>]: (body: WideJsonObject) => ModelAnswer } = {
  'openai.chat': chatAnswer,
  'openai.responses': responsesAnswer,
  'anthropic.messages': anthropicAnswer,
};

/**
 * What the body of an answer says. Never throws, whatever the bytes are: what cannot be read is an `error`, with a code
 * of Stemma's table if the body itself is at fault.
 */
export const readAnswer = (api: ModelApi, head: AnswerHead, bytes: Uint8Array): ModelAnswer => {
  const read = guarded(() => {
    if (api === 'other') throw fail('E_INPUT_SHAPE', 'it is the answer of no API whose answers are read');
    const whole = readBody(api, head, bytes);
    const others = whole.others?.map(recordable);
    return { ...whole, answer: recordable(whole.answer), ...(others && { others }) };
  });
  return 'ok' in read ? { ...NO_ANSWER, error: answerError(read.code, read.reason) } : read;
};

const readBody = (api: Exclude<ModelApi, 'other'>, head: AnswerHead, bytes: Uint8Array): ModelAnswer => {
  const answer = isStream(head, bytes) ? streamAnswer(api, bytes) : jsonAnswer(api, head, bytes);
  if (head.status < 400 || answer.error !== null || answer.answer !== null) return answer;
  return { ...answer, error: answerError(null, `HTTP ${head.status}`) };
};

const jsonAnswer = (
  api: Exclude<ModelApi, 'other'>,
  { status }: AnswerHead,
  bytes: Uint8Array,
): ModelAnswer => {
  const text = decodeText(bytes, 'the answer');
  const isError = status >= 400;
  // Proxies and overloaded servers send a page or a word instead of JSON.
  if (isError && !text.trimStart().startsWith('{'))
    return { ...NO_ANSWER, error: answerError(null, `HTTP ${status} ${text.trim()}`), complete: true };
  const body = wellFormedJson(text, 'the answer');
  if (!isJsonObject(body)) throw fail('E_INPUT_SHAPE', 'the answer is not a JSON object');
  const answer = READERS[api](body);
  const saysNothing = answer.error === null && answer.answer === null && answer.finishReason === null;
  if (isError || !saysNothing || !answer.complete) return answer;
  return { ...answer, error: answerError('E_INPUT_SHAPE', 'the answer holds no message') };
};

/** True for a stream of events. Some servers name the wrong type, but no event begins with a brace. */
const isStream = ({ contentType }: AnswerHead, bytes: Uint8Array): boolean => {
  const start = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
  if (start.startsWith('{')) return false;
  return /^\s*text\/event-stream\b/i.test(contentType ?? '') || /^(data|event|id|retry)?:/.test(start);
};
