import { fail } from '@stemma/errors';
import type { ApiFormat } from '../api-format.ts';
import { isList } from '../body.ts';
import { chatMessage } from './message-at.ts';

/** Messages as OpenAI's chat API has them: a list in which each stands for itself, the system's among them. */
export const chatList = {
  fields: ['messages'],
  messages: ({ messages }) => {
    if (!isList(messages)) throw fail('E_INPUT_SHAPE', 'the request has no list of messages');
    return messages.map(chatMessage);
  },
  list: {
    items: 'messages',
    system: [],
    ofSystem: () => [],
    ofItems: (items) => items.map(chatMessage),
    begins: () => true,
  },
} satisfies Pick<ApiFormat, 'fields' | 'messages' | 'list'>;
