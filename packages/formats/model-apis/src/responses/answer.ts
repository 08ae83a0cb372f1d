import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { errorOf, openAIUsage, type ModelAnswer } from '../answer.ts';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';
import { turnOf } from './turn.ts';

/** The states in which a response stays. */
const FINAL: readonly string[] = ['completed', 'incomplete', 'failed', 'cancelled'];

/** The states of one that goes on, though nobody is connected. */
const PENDING: readonly string[] = ['queued', 'in_progress'];

/** What a response of OpenAI's Responses API says; `items` are those of its output. */
export const responsesAnswer = (
  body: WideJsonObject,
  items: WideJson | undefined = body['output'],
): ModelAnswer => {
  const state = textOrNull(body['status']);
  const status = state !== null && FINAL.includes(state) ? state : null;
  return {
    answer: isList(items) && items.length > 0 ? turnOf(items) : null,
    finishReason: textOrNull(objectOrEmpty(body['incomplete_details'])['reason']) ?? status,
    model: textOrNull(body['model']),
    id: textOrNull(body['id']),
    usage: openAIUsage(body['usage']),
    error: errorOf(body['error']),
    complete: status !== null || body['error'] != null,
    pending: body['background'] === true && PENDING.includes(state ?? '') && body['error'] == null,
  };
};
