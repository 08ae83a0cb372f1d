import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { errorOf, openAIUsage, type ModelAnswer } from '../answer.ts';
import { isList, textOrNull } from '../body.ts';

/** What a completion of OpenAI's chat API says; of several choices the first is the answer. */
export const chatAnswer = (body: WideJsonObject): ModelAnswer => {
  const choice = firstChoice(body['choices']);
  const others = choicesOf(body['choices']).filter((each) => each !== choice);
  const messages = others.map(messageOf).filter((message) => message !== null);
  return {
    answer: messageOf(choice),
    ...(messages.length === 0 ? {} : { others: messages }),
    finishReason: textOrNull(choice?.['finish_reason']),
    model: textOrNull(body['model']),
    id: textOrNull(body['id']),
    usage: openAIUsage(body['usage']),
    error: errorOf(body['error']),
    complete: true,
    pending: false,
  };
};

const messageOf = (choice: WideJsonObject | undefined): WideJsonObject | null => {
  const message = choice?.['message'];
  return isJsonObject(message) ? { ...message, role: 'assistant' } : null;
};

export const choicesOf = (choices: WideJson | undefined): readonly WideJsonObject[] =>
  isList(choices) ? choices.filter(isJsonObject) : [];

/** The choice with the index 0, or without an index. */
const firstChoice = (choices: WideJson | undefined): WideJsonObject | undefined =>
  choicesOf(choices).find((choice) => (choice['index'] ?? 0) === 0);
