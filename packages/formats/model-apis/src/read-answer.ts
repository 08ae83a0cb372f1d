import { isJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { answerError, NO_ANSWER, type ModelAnswer } from './answer.ts';
import type { ApiFormat } from './api-format.ts';
import type { ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import { decodeText, guarded, recordable, wellFormedJson } from './body.ts';
import { framingOf } from './framing.ts';
import { streamAnswer } from './stream.ts';

/** What the head of an answer says. */
export type AnswerHead = { readonly status: number; readonly contentType: string | null };

/**
 * What the body of an answer says. Never throws, whatever the bytes are: what cannot be read is an `error`, with a code
 * of Stemma's table if the body itself is at fault.
 */
export const readAnswer = (api: ModelApi, head: AnswerHead, bytes: Uint8Array): ModelAnswer => {
  const read = guarded(() => {
    if (api === 'other') throw fail('E_INPUT_SHAPE', 'it is the answer of no API whose answers are read');
    const whole = readBody(formatOf(api), head, bytes);
    const others = whole.others?.map(recordable);
    return { ...whole, answer: recordable(whole.answer), ...(others && { others }) };
  });
  return 'ok' in read ? { ...NO_ANSWER, error: answerError(read.code, read.reason) } : read;
};

const readBody = (format: ApiFormat, head: AnswerHead, bytes: Uint8Array): ModelAnswer => {
  const framing = framingOf(format.framing, head.contentType, bytes);
  const answer = framing === null ? jsonAnswer(format, head, bytes) : streamAnswer(format, framing, bytes);
  if (head.status < 400 || answer.error !== null || answer.answer !== null) return answer;
  return { ...answer, error: answerError(null, `HTTP ${head.status}`) };
};

const jsonAnswer = (format: ApiFormat, { status }: AnswerHead, bytes: Uint8Array): ModelAnswer => {
  const text = decodeText(bytes, 'the answer');
  const isError = status >= 400;
  // Proxies and overloaded servers send a page or a word instead of JSON.
  if (isError && !text.trimStart().startsWith('{'))
    return { ...NO_ANSWER, error: answerError(null, `HTTP ${status} ${text.trim()}`), complete: true };
  const body = wellFormedJson(text, 'the answer');
  if (!isJsonObject(body)) throw fail('E_INPUT_SHAPE', 'the answer is not a JSON object');
  if (!isError && format.isKnownAnswer?.(body) === false) return { ...NO_ANSWER, complete: true };
  const answer = format.readAnswer(body);
  const saysNothing = answer.error === null && answer.answer === null && answer.finishReason === null;
  if (isError || !saysNothing || !answer.complete) return answer;
  return { ...answer, error: answerError('E_INPUT_SHAPE', 'the answer holds no message') };
};
