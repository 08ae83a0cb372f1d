import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { answerError, countOrNull, type AnswerError, type ModelAnswer, type TokenUsage } from '../answer.ts';
import { assistantOfPieces } from '../blocks/read-blocks.ts';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';
import { geminiForm } from './form.ts';

/** What a response of Gemini's API says; of several candidates the first is the answer. */
export const geminiAnswer = (body: WideJsonObject): ModelAnswer => {
  const candidates = candidatesOf(body);
  const answers = [...candidates]
    .sort(([a], [b]) => a - b)
    .map(([index, { content }]) => [index, messageOf([partsOf(content)])] as const);
  const others = answers.flatMap(([index, message]) => (index === 0 || message === null ? [] : [message]));
  return {
    ...factsOf(body),
    answer: answers.find(([index]) => index === 0)?.[1] ?? null,
    ...(others.length === 0 ? {} : { others }),
    complete: true,
  };
};

/** All that a response or a chunk says but its contents. */
export const factsOf = (body: WideJsonObject): ModelAnswer => ({
  answer: null,
  finishReason: textOrNull(candidatesOf(body).get(0)?.['finishReason']) ?? blockReasonOf(body),
  model: textOrNull(body['modelVersion']),
  id: textOrNull(body['responseId']),
  usage: geminiUsage(body['usageMetadata']),
  error: geminiError(body['error']) ?? blocked(body),
  complete: false,
  pending: false,
});

/** The candidates by their index. */
export const candidatesOf = ({ candidates }: WideJsonObject): ReadonlyMap<number, WideJsonObject> =>
  new Map(
    (isList(candidates) ? candidates : []).flatMap((candidate) => {
      if (!isJsonObject(candidate)) return [];
      const { index = 0 } = candidate;
      return typeof index === 'number' ? [[index, candidate] as const] : [];
    }),
  );

export const partsOf = (content: WideJson | undefined): readonly WideJson[] => {
  const { parts } = objectOrEmpty(content);
  return isList(parts) ? parts : [];
};

/** The message of the parts that came piece by piece; null: there are none. */
export const messageOf = (pieces: readonly (readonly WideJson[])[]): WideJsonObject | null =>
  pieces.every((piece) => piece.length === 0) ? null : assistantOfPieces(geminiForm, pieces);

const blockReasonOf = (body: WideJsonObject): string | null =>
  textOrNull(objectOrEmpty(body['promptFeedback'])['blockReason']);

/** A prompt that the API refuses has no candidates. */
const blocked = (body: WideJsonObject): AnswerError | null => {
  const reason = blockReasonOf(body);
  if (reason === null) return null;
  const said = textOrNull(objectOrEmpty(body['promptFeedback'])['blockReasonMessage']);
  return answerError(reason, said ?? `the API blocked the prompt: ${reason}`);
};

/** `{code: 400, message, status: 'INVALID_ARGUMENT'}`. */
const geminiError = (error: WideJson | undefined): AnswerError | null => {
  if (error === undefined || error === null) return null;
  const { code, status, message } = objectOrEmpty(error);
  const number = typeof code === 'number' ? String(code) : null;
  return answerError(textOrNull(status) ?? number, textOrNull(message) ?? 'the API gives no message');
};

/** What a tool of the provider brought into the prompt, and what the model thought, are counted beside the rest. */
const geminiUsage = (usage: WideJson | undefined): TokenUsage | null => {
  if (!isJsonObject(usage)) return null;
  const [prompt, tools] = [
    countOrNull(usage['promptTokenCount']),
    countOrNull(usage['toolUsePromptTokenCount']),
  ];
  const [said, thought] = [
    countOrNull(usage['candidatesTokenCount']),
    countOrNull(usage['thoughtsTokenCount']),
  ];
  return {
    input: prompt === null ? null : prompt + (tools ?? 0),
    output: said === null && thought === null ? null : (said ?? 0) + (thought ?? 0),
    cached: countOrNull(usage['cachedContentTokenCount']),
    cacheWrite: null,
    reasoning: thought,
  };
};
