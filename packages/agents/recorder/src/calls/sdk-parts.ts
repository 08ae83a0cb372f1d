import type { SaidAnswer } from './said.ts';

/** A part of a stream of the AI SDK. */
export type SdkPart = Readonly<Record<string, unknown>>;

/** What a stream came to. */
type StreamResult = {
  readonly content: readonly SdkPart[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly providerMetadata: unknown;
  readonly error: unknown;
};

/** Puts the parts of a stream together, texts by their ids, in the order in which they began. */
export const openParts = (): { add(part: SdkPart): void; result(): StreamResult } => {
  const content = new Map<string, SdkPart>();
  const texts = new Map<string, string>();
  let finish: SdkPart = {};
  let error: unknown;
  return {
    add: (part) => {
      const { type, id, delta } = part;
      if (type === 'text-delta' || type === 'reasoning-delta') {
        const kind = type.slice(0, -'-delta'.length);
        const key = `${kind} ${String(id)}`;
        const text = (texts.get(key) ?? '') + (typeof delta === 'string' ? delta : '');
        texts.set(key, text);
        content.set(key, { type: kind, text });
      } else if (type === 'tool-call') content.set(`tool ${content.size}`, { ...part });
      else if (type === 'finish') finish = part;
      else if (type === 'error') error = part['error'];
    },
    result: () => ({
      content: [...content.values()],
      finishReason: finish['finishReason'],
      usage: finish['usage'],
      providerMetadata: finish['providerMetadata'],
      error,
    }),
  };
};

/** The id that OpenAI's provider gives an answer which it keeps. */
export const answerIdOf = (metadata: unknown): { readonly answerId?: string } => {
  const { responseId } = fieldsOf(fieldsOf(metadata)['openai']);
  return typeof responseId === 'string' ? { answerId: responseId } : {};
};

/** The answer that a call goes on from, by the name that it has in OpenAI's API. */
export const previousOf = (options: unknown): { readonly previous_response_id?: string } => {
  const { previousResponseId } = fieldsOf(fieldsOf(options)['openai']);
  return typeof previousResponseId === 'string' ? { previous_response_id: previousResponseId } : {};
};

/** Tokens as versions 5 (numbers) and 6 (numbers by kind) of the AI SDK state them. */
export const usageOfSdk = (usage: unknown): NonNullable<SaidAnswer['usage']> => {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = fieldsOf(usage);
  const [input, output] = [fieldsOf(inputTokens), fieldsOf(outputTokens)];
  return {
    input: numberOf(inputTokens) ?? numberOf(input['total']),
    output: numberOf(outputTokens) ?? numberOf(output['total']),
    cached: numberOf(cachedInputTokens) ?? numberOf(input['cacheRead']),
    cacheWrite: numberOf(input['cacheWrite']),
    reasoning: numberOf(reasoningTokens) ?? numberOf(output['reasoning']),
  };
};

const fieldsOf = (value: unknown): SdkPart =>
  typeof value === 'object' && value !== null ? (value as SdkPart) : {};

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
