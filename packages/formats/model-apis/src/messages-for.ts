import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { mindNames } from './clients.ts';
import { formatOf } from './apis.ts';
import { fail } from '@stemma/errors';

/** What a provider's messages are asked for by: what the name of a mind begins with, as in `anthropic:MODEL`. */
export const providerNames = (): readonly string[] => [...mindNames().keys()];

/**
 * Messages in the form of OpenAI's chat API as a provider's API takes them: of `openai` the list itself, of any other the
 * fields of a request that hold them, as `{"system": …, "messages": […]}` of `anthropic`.
 *
 * @throws E_USAGE for a provider that is not known, E_INPUT_SHAPE for messages that its API has no place for
 */
export const messagesFor = (provider: string, messages: readonly WideJsonObject[]): WideJson => {
  const api = mindNames().get(provider);
  if (api === undefined)
    throw fail(
      'E_USAGE',
      `the provider must be one of ${providerNames().join(', ')}, not ${JSON.stringify(provider)}`,
    );
  return provider === 'openai' ? messages : formatOf(api).writeMessages(messages);
};
