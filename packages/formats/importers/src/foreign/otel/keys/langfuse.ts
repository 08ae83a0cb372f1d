import { objectOf } from '../../fields.ts';
import { parsedIn, wordIn } from '../../loose-values.ts';
import { answerIn, usageIn } from '../../said/answer.ts';
import { requestIn } from '../../said/request.ts';
import type { KeySet } from '../facts.ts';

/** Langfuse's SDKs since version 3: `langfuse.observation.input`, `langfuse.observation.usage_details` … */
export const langfuseKeys: KeySet = (attributes) => {
  const of = (name: string) => attributes.get(`langfuse.observation.${name}`);
  const request = requestIn(of('input'));
  const said = answerIn(of('output'));
  return {
    model: wordIn(of('model.name')),
    parameters: objectOf(parsedIn(of('model.parameters'))),
    usage: usageIn(parsedIn(of('usage_details'))) ?? said?.usage,
    ...(request !== null && {
      messages: request.messages,
      isGuessed: request.isGuessed,
      tools: request.tools,
    }),
    ...(said !== null && { answer: said.answer, finishReason: said.finishReason, others: said.others }),
  };
};
