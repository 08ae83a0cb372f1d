import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';

/** What a program says that it sends. */
const NAMES_OF_OTHER: readonly string[] = ['previous_response_id'];

/**
 * The parameters of a request that name messages which the model is shown and the request does not hold: an earlier response, a
 * conversation or a template at the provider.
 */
export const keptAtProvider = (api: ModelApi, parameters: WideJson): readonly string[] =>
  isJsonObject(parameters)
    ? (api === 'other' ? NAMES_OF_OTHER : formatOf(api).namesKept).filter(
        (name) => parameters[name] !== undefined && parameters[name] !== null,
      )
    : [];
