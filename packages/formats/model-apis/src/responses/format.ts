import type { ApiFormat } from '../api-format.ts';
import { openaiError } from '../chat/error.ts';
import { responsesAnswer } from './answer.ts';
import { isClientItem, responsesMessages } from './messages.ts';
import { responsesLocations, spliceResponses } from './splice.ts';
import { openResponsesStream } from './stream.ts';
import { responsesBlock } from './stream-blocks.ts';
import { responsesWriter } from './write-answer.ts';
import { responsesBody } from './write-items.ts';

/** OpenAI's Responses API. */
export const openaiResponsesFormat: ApiFormat = {
  mapping: 'openai.responses@1',
  isPath: (path) => path.endsWith('/responses'),
  fields: ['instructions', 'input'],
  messages: ({ instructions, input }) => responsesMessages(instructions, input),
  list: {
    items: 'input',
    system: ['instructions'],
    ofSystem: (instructions) => responsesMessages(instructions, undefined),
    ofItems: (items) => responsesMessages(undefined, items),
    begins: isClientItem,
  },
  namesKept: ['previous_response_id', 'conversation', 'prompt'],
  readAnswer: (body) => responsesAnswer(body),
  openStream: openResponsesStream,
  openStreamBlocks: () => responsesBlock,
  framing: 'events',
  writeMessages: responsesBody,
  parameters: { limit: ['max_output_tokens'], temperature: 'temperature', topP: 'top_p' },
  toolForm: {
    tool: ({ schema, ...said }) => ({ type: 'function', ...said, parameters: schema }),
    choice: (choice) => ({
      name: 'tool_choice',
      value: typeof choice === 'string' ? choice : { type: 'function', name: choice.name },
    }),
  },
  locations: responsesLocations,
  splice: spliceResponses,
  writer: responsesWriter,
  errorBody: openaiError,
  client: { mind: 'openai.responses', path: () => '/responses', tail: /\/responses\/?$/ },
};
