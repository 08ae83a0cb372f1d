import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { errorOf, openAIUsage, type ModelAnswer } from '../answer.ts';
import { isList, textOrNull } from '../body.ts';

/** What a completion of OpenAI's chat API says; of several choices the first. */
export const chatAnswer = (body: WideJsonObject): ModelAnswer => {
  const choice = firstChoice(body['choices']);
  const message = choice?.['message'];
  return {
    answer: isJsonObject(message) ? { ...message, role: 'assistant' } : null,
    finishReason: textOrNull(choice?.['finish_reason']),
    model: textOrNull(body['model']),
    id: textOrNull(body['id']),
    usage: openAIUsage(body['usage']),
    error: errorOf(body['error']),
    complete: true,
    pending: false,
  };
};

/** The choice with the index 0, or without an index. */
export const firstChoice = (choices: WideJson | undefined): WideJsonObject | undefined =>
  isList(choices)
    ? choices.find((choice): choice is WideJsonObject => isJsonObject(choice) && (choice['index'] ?? 0) === 0)
    : undefined;
