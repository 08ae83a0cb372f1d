import type { ApiFormat } from '../api-format.ts';
import { blockList } from '../blocks/block-list.ts';
import { blockMessages, piecesOf } from '../blocks/read-blocks.ts';
import { blockLocations, spliceBlocks } from '../blocks/splice-blocks.ts';
import { blocksBody } from '../blocks/write-blocks.ts';
import { anthropicAnswer } from './answer.ts';
import { anthropicForm } from './form.ts';
import { openAnthropicStream } from './stream.ts';
import { anthropicBlock } from './stream-blocks.ts';
import { anthropicWriter } from './write-answer.ts';

/** A message of OpenAI's Assistants, whose path ends as that of Anthropic's API does. */
const ASSISTANTS = /\/threads\/thread_[^/]*\/messages$/;

/** Anthropic's API refuses a request without a limit. */
const LIMIT = 4096;

/** Anthropic's Messages API. */
export const anthropicMessagesFormat: ApiFormat = {
  mapping: 'anthropic.messages@1',
  isPath: (path) => path.endsWith('/messages') && !ASSISTANTS.test(path),
  fields: ['system', 'messages'],
  messages: ({ system, messages }, pieces) => blockMessages(anthropicForm, system, messages, pieces),
  pieces: (value, where) => piecesOf(anthropicForm, value, where),
  list: blockList(anthropicForm),
  namesKept: [],
  readAnswer: anthropicAnswer,
  openStream: openAnthropicStream,
  openStreamBlocks: () => anthropicBlock,
  framing: 'events',
  writeMessages: (messages) => blocksBody(anthropicForm, messages),
  defaults: { max_tokens: LIMIT },
  parameters: {
    limit: ['max_tokens'],
    temperature: 'temperature',
    topP: 'top_p',
    stop: 'stop_sequences',
    isStopList: true,
  },
  toolForm: {
    tool: ({ schema, ...said }) => ({ ...said, input_schema: schema }),
    choice: (choice) => ({
      name: 'tool_choice',
      value:
        typeof choice === 'string'
          ? { type: choice === 'required' ? 'any' : choice }
          : { type: 'tool', name: choice.name },
    }),
  },
  locations: (body) => blockLocations(anthropicForm, body),
  splice: (text, locations, messages) => spliceBlocks(anthropicForm, text, locations, messages),
  writer: anthropicWriter,
  errorBody: ({ type, message }) => ({ type: 'error', error: { type, message } }),
  client: { mind: 'anthropic', path: () => '/messages', tail: /(?:\/v1)?\/messages\/?$/ },
};
