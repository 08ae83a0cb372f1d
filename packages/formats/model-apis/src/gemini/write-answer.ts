import type { WideJsonObject } from '@stemma/canonical';
import { hasText, inputOf, type AnswerContent, type AnswerWriter } from '../answer-writer.ts';
import { isLocalId } from '../blocks/local-ids.ts';
import { serverSentEvents } from '../event-writer.ts';

const responseWith = (said: AnswerContent): WideJsonObject => {
  const { id, model, text, calls } = said;
  const parts = [
    ...(hasText(said) ? [{ text }] : []),
    ...calls.map(({ id: call, name, arguments: given }) => ({
      functionCall: { ...(isLocalId(call, name) ? {} : { id: call }), name, args: inputOf(given) },
    })),
  ];
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    modelVersion: model,
    responseId: id,
  };
};

/** A response; a stream of one is that response as its only chunk. */
export const geminiWriter: AnswerWriter = {
  whole: responseWith,
  events: (said) => [responseWith(said)],
  ...serverSentEvents(),
};
