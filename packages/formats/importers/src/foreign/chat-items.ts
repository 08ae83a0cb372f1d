import type { WideJsonObject } from '@stemma/canonical';
import type { ForeignCall, ForeignItem, ForeignMessage, MissingPart } from './item.ts';

/** What a file says of a call beside its answer. */
export type ForeignCallFacts = Omit<Partial<ForeignCall>, 'kind' | 'answer' | 'missing'>;

/**
 * The items of one conversation that is a list of messages of the chat API: an answer of the model is a call, every other message is
 * what it is. What such a list never has (tools, parameters), and what this one lacks, is missing from each call.
 */
export type ChatItems = {
  readonly add: (message: WideJsonObject, facts?: ForeignCallFacts) => ForeignItem;
};

export const openChatItems = (has: { readonly tools?: boolean } = {}): ChatItems => {
  let hasSystem = false;
  return {
    add: (message, facts = {}) => {
      const { role } = message;
      if (role === 'system' || role === 'developer') hasSystem = true;
      const { model = null, ...more } = facts;
      if (role === 'assistant')
        return {
          kind: 'call',
          ...more,
          model,
          answer: message,
          missing: missingOf(hasSystem, has.tools === true, more.usage != null),
        };
      const { id, after, at } = facts;
      const said: ForeignMessage = {
        kind: 'message',
        role: typeof role === 'string' ? role : 'unknown',
        messages: [message],
      };
      return {
        ...said,
        ...(id !== undefined && { id }),
        ...(after !== undefined && { after }),
        ...(at !== undefined && { at }),
      };
    },
  };
};

const missingOf = (hasSystem: boolean, hasTools: boolean, hasUsage: boolean): readonly MissingPart[] => [
  ...(hasSystem ? [] : (['system prompt'] as const)),
  ...(hasTools ? [] : (['tools'] as const)),
  'parameters',
  ...(hasUsage ? [] : (['usage'] as const)),
];
