import { fail } from '@stemma/errors';
import { writeRequest, type ModelAnswer } from '@stemma/model-apis';
import { askMind } from './ask-mind.ts';
import type { Mind, MindQuestion } from './mind.ts';
import { mindSurroundings, type MindOptions } from './open-mind.ts';

/** The body that asks a question of a mind. */
export const requestFor = (
  { api, model }: Pick<Mind, 'api' | 'model'>,
  { messages, parameters = {}, tools = [], seed }: MindQuestion,
): Uint8Array =>
  writeRequest(api, {
    model,
    messages,
    parameters: { ...parameters, ...(seed === undefined || api !== 'openai.chat' ? {} : { seed }) },
    tools,
  });

/**
 * What a mind answers to some messages. With `offline`, the same messages and seed have the same answer.
 *
 * @throws E_MIND_…, E_CANCELLED
 */
export const answerOf = async (
  mind: Mind,
  question: MindQuestion,
  { signal = new AbortController().signal, ...options }: MindOptions & { readonly signal?: AbortSignal } = {},
): Promise<ModelAnswer> => {
  const { sleep, random } = mindSurroundings(options);
  const { answer, error } = await askMind(mind, requestFor(mind, question), { signal, sleep, random });
  if (error !== null) throw fail(error.code, error.message);
  return answer as ModelAnswer;
};
