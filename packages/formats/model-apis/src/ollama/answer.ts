import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { countOrNull, errorOf, NO_ANSWER, type ModelAnswer } from '../answer.ts';
import type { AnswerStream, StreamBlock } from '../answer-stream.ts';
import { textOrNull } from '../body.ts';
import { grow, type Growing } from '../growing.ts';
import { ollamaMessage } from './messages.ts';

/** How the message of a body is found: `message` of a chat, `response` of a completion. */
type MessageIn = (body: WideJsonObject) => WideJsonObject | null;

const inChat: MessageIn = ({ message }) => (isJsonObject(message) ? { ...message, role: 'assistant' } : null);

const inCompletion: MessageIn = ({ response, thinking }) =>
  typeof response === 'string'
    ? { role: 'assistant', content: response, ...(thinking === undefined ? {} : { thinking }) }
    : null;

/** All that a body says but its message. */
const factsOf = (body: WideJsonObject): ModelAnswer => {
  const isDone = body['done'] === true;
  return {
    ...NO_ANSWER,
    finishReason: isDone ? (textOrNull(body['done_reason']) ?? 'done') : null,
    model: textOrNull(body['model']),
    usage: isDone
      ? {
          input: countOrNull(body['prompt_eval_count']),
          output: countOrNull(body['eval_count']),
          cached: null,
          cacheWrite: null,
          reasoning: null,
        }
      : null,
    error: errorOf(body['error']),
    complete: isDone,
  };
};

const readBody =
  (messageIn: MessageIn) =>
  (body: WideJsonObject): ModelAnswer => {
    const message = messageIn(body);
    const facts = factsOf(body);
    return {
      ...facts,
      answer: message === null ? null : ollamaMessage(message),
      complete: facts.complete || facts.error !== null,
    };
  };

/** The lines of an answer, each with the next piece of its message; the one that is `done` is the last. */
const openStream = (messageIn: MessageIn) => (): AnswerStream => {
  let answer = NO_ANSWER;
  let message: Growing | null = null;
  return {
    add: (line) => {
      const facts = factsOf(line);
      const piece = messageIn(line);
      if (piece !== null) {
        message ??= {};
        for (const [name, value] of Object.entries(piece)) grow(message, name, value);
      }
      answer = {
        ...answer,
        finishReason: facts.finishReason ?? answer.finishReason,
        model: answer.model ?? facts.model,
        usage: facts.usage ?? answer.usage,
        error: answer.error ?? facts.error,
        complete: answer.complete || facts.complete,
      };
    },
    done: () => undefined,
    answer: () => ({ ...answer, answer: message === null ? null : ollamaMessage(message) }),
  };
};

export const chatAnswers = { readAnswer: readBody(inChat), openStream: openStream(inChat) };
export const completionAnswers = { readAnswer: readBody(inCompletion), openStream: openStream(inCompletion) };

/** Texts and thoughts. */
export const ollamaBlock: StreamBlock = (path) =>
  /^(?:message\.content|message\.thinking|response|thinking)$/.test(path) ? path : null;
