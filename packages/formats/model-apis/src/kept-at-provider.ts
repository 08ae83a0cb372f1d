import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { ModelApi } from './api-of.ts';

/** Fields of requests that name messages which their provider has: they stand in no request. */
const NAMING: { readonly [api in ModelApi]: readonly string[] } = {
  'openai.chat': [],
  'openai.responses': ['previous_response_id', 'conversation', 'prompt'],
  'anthropic.messages': [],
  // What a program says that it sends.
  other: ['previous_response_id'],
};

/**
 * The parameters of a request that name messages which the model is shown and the request does not hold: an earlier response, a
 * conversation or a template at the provider.
 */
export const keptAtProvider = (api: ModelApi, parameters: WideJson): readonly string[] =>
  isJsonObject(parameters)
    ? NAMING[api].filter((name) => parameters[name] !== undefined && parameters[name] !== null)
    : [];
