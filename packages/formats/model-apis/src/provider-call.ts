import { isJsonObject, type WideJson } from '@stemma/canonical';
import { errorOf, openAIUsage, type AnswerError, type TokenUsage } from './answer.ts';
import { objectOrEmpty, textOrNull } from './body.ts';

/** What the bodies of a call without messages say, as far as they are JSON. */
export type ReadProviderCall = {
  /** That the request names, else the answer; null: neither does. */
  readonly model: string | null;
  readonly usage: TokenUsage | null;
  readonly error: AnswerError | null;
};

/**
 * What a call of a provider's API that carries no messages says of its model and its tokens: `{"model": "e-1", "usage":
 * {"prompt_tokens": 8, "total_tokens": 8}}`.
 *
 * @param request null: its bytes are not known
 * @param response null: none came, or its bytes are not known
 */
export const readProviderCall = (
  request: Uint8Array | null,
  response: Uint8Array | null,
): ReadProviderCall => {
  const [asked, answered] = [objectOrEmpty(jsonOf(request)), objectOrEmpty(jsonOf(response))];
  return {
    model: textOrNull(asked['model']) ?? textOrNull(answered['model']),
    usage: usageIn(answered['usage']) ?? usageIn(objectOrEmpty(answered['meta'])['billed_units']),
    error: errorOf(answered['error']),
  };
};

/** Tokens of an answer. What the API does not say of the output is what is left of the total. */
const usageIn = (said: WideJson | undefined): TokenUsage | null => {
  const usage = openAIUsage(said);
  if (usage === null || Object.values(usage).every((tokens) => tokens === null)) return null;
  const total = isJsonObject(said) ? said['total_tokens'] : undefined;
  const rest = typeof total === 'number' && usage.input !== null ? total - usage.input : null;
  return { ...usage, output: usage.output ?? (rest !== null && rest >= 0 ? rest : null) };
};

/** Vectors are large: what is read of them are a few small numbers, so integers beyond 2^53 may lose digits here. */
const jsonOf = (bytes: Uint8Array | null): WideJson | undefined => {
  if (bytes === null || bytes.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as WideJson;
  } catch {
    return undefined;
  }
};
