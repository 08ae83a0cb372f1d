import type { WideJson } from '@stemma/canonical';
import { NO_ANSWER, type ModelAnswer } from '../answer.ts';
import type { AnswerStream, StreamBlock } from '../answer-stream.ts';
import { candidatesOf, factsOf, messageOf, partsOf } from './answer.ts';

/** The chunks of Gemini's API, each a response with the next parts; the one that says why the model stopped is the last. */
export const openGeminiStream = (): AnswerStream => {
  let answer: ModelAnswer = NO_ANSWER;
  const pieces = new Map<number, (readonly WideJson[])[]>();
  return {
    add: (chunk) => {
      const facts = factsOf(chunk);
      for (const [index, { content }] of candidatesOf(chunk)) {
        const known = pieces.get(index) ?? [];
        known.push(partsOf(content));
        pieces.set(index, known);
      }
      answer = {
        ...answer,
        finishReason: facts.finishReason ?? answer.finishReason,
        model: answer.model ?? facts.model,
        id: answer.id ?? facts.id,
        usage: facts.usage ?? answer.usage,
        error: answer.error ?? facts.error,
      };
    },
    done: () => undefined,
    answer: () => {
      const others = [...pieces]
        .filter(([index]) => index !== 0)
        .sort(([a], [b]) => a - b)
        .map(([, each]) => messageOf(each))
        .filter((message) => message !== null);
      return {
        ...answer,
        answer: messageOf(pieces.get(0) ?? []),
        ...(others.length === 0 ? {} : { others }),
        complete: answer.finishReason !== null,
      };
    },
  };
};

const TEXT = /^(candidates\.\d+)\.content\.parts\.\d+\.text$/;

/** Texts, by the candidate that says them. */
export const geminiBlock: StreamBlock = (path, valueAt) => {
  const text = TEXT.exec(path);
  return text === null ? null : `text ${valueAt(`${text[1] ?? ''}.index`) ?? '0'}`;
};
