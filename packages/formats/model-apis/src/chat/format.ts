import type { ApiFormat } from '../api-format.ts';
import { itemLocations, spliceItems } from '../splicing/splice-items.ts';
import { chatAnswer } from './answer.ts';
import { openaiError } from './error.ts';
import { chatList } from './list.ts';
import { openChatStream } from './stream.ts';
import { openChatBlocks } from './stream-blocks.ts';
import { chatWriter } from './write-answer.ts';
import { chatMessages } from './write-messages.ts';

/** OpenAI's chat API, which Azure, Mistral and many others have too. */
export const openaiChatFormat: ApiFormat = {
  mapping: 'openai.chat@1',
  isPath: (path) => path.endsWith('/chat/completions'),
  ...chatList,
  namesKept: [],
  readAnswer: chatAnswer,
  openStream: openChatStream,
  openStreamBlocks: openChatBlocks,
  framing: 'events',
  writeMessages: (messages) => ({ messages: chatMessages(messages) }),
  parameters: {
    limit: ['max_completion_tokens', 'max_tokens'],
    temperature: 'temperature',
    topP: 'top_p',
    stop: 'stop',
  },
  toolForm: {
    tool: ({ schema, ...said }) => ({ type: 'function', function: { ...said, parameters: schema } }),
    choice: (choice) => ({
      name: 'tool_choice',
      value: typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } },
    }),
  },
  locations: (body) => itemLocations(body, 'messages'),
  splice: (text, _locations, messages) => spliceItems(text, 'messages', messages, (message) => message),
  writer: chatWriter,
  errorBody: openaiError,
  client: { mind: 'openai', path: () => '/chat/completions', tail: /\/chat\/completions\/?$/ },
};
