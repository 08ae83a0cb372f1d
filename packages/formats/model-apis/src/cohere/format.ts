import type { ApiFormat } from '../api-format.ts';
import { chatList } from '../chat/list.ts';
import { itemLocations, spliceItems } from '../splicing/splice-items.ts';
import { cohereAnswer, cohereBlock, openCohereStream } from './answer.ts';
import { cohereItem, cohereWriter } from './write.ts';

/** `POST /v2/chat` of Cohere. Its messages are those of OpenAI's chat API, with a `tool_plan` and `citations`. */
export const cohereChatFormat: ApiFormat = {
  mapping: 'cohere.chat@1',
  isPath: (path) => path.endsWith('/v2/chat'),
  ...chatList,
  namesKept: [],
  readAnswer: cohereAnswer,
  openStream: openCohereStream,
  openStreamBlocks: () => cohereBlock,
  framing: 'events',
  writeMessages: (messages) => ({ messages: messages.map(cohereItem) }),
  parameters: {
    limit: ['max_tokens'],
    temperature: 'temperature',
    topP: 'p',
    stop: 'stop_sequences',
    isStopList: true,
  },
  toolForm: {
    tool: ({ schema, ...said }) => ({ type: 'function', function: { ...said, parameters: schema } }),
    choice: (choice) =>
      choice === 'required' || choice === 'none'
        ? { name: 'tool_choice', value: choice === 'none' ? 'NONE' : 'REQUIRED' }
        : null,
  },
  locations: (body) => itemLocations(body, 'messages'),
  splice: (text, _locations, messages) => spliceItems(text, 'messages', messages, cohereItem),
  writer: cohereWriter,
  errorBody: ({ message, code }) => ({ id: code, message }),
  client: { mind: 'cohere', path: () => '/chat', tail: /(?:\/v2)?\/chat\/?$/ },
};
