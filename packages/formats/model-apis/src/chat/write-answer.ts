import type { WideJsonObject } from '@stemma/canonical';
import type { AnswerWriter, EventToWrite, AnswerContent, ToolCallToWrite } from '../answer-writer.ts';
import { serverSentEvents } from '../event-writer.ts';

const chatChoice = (
  field: 'message' | 'delta',
  value: WideJsonObject,
  end: string | null,
): WideJsonObject => ({
  index: 0,
  [field]: value,
  finish_reason: end,
  logprobs: null,
});

const chatCalls = (calls: readonly ToolCallToWrite[], isStream: boolean): WideJsonObject =>
  calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(({ id, name, arguments: given }, index) => ({
          ...(isStream ? { index } : {}),
          ...{ id, type: 'function', function: { name, arguments: given } },
        })),
      };

const chatEnd = ({ calls }: AnswerContent): string => (calls.length > 0 ? 'tool_calls' : 'stop');

/** A completion, or the chunks of one. */
export const chatWriter: AnswerWriter = {
  whole: (said) => {
    const { id, at, model, text, calls } = said;
    const content = text === '' && calls.length > 0 ? null : text;
    const message = { role: 'assistant', content, ...chatCalls(calls, false) };
    return {
      ...{ id: `chatcmpl-${id}`, object: 'chat.completion', created: at, model },
      choices: [chatChoice('message', message, chatEnd(said))],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    };
  },
  events: (said) => {
    const { id, at, model, text, calls } = said;
    const chunk = (delta: WideJsonObject, end: string | null): EventToWrite => ({
      ...{ id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: at, model },
      choices: [chatChoice('delta', delta, end)],
    });
    const first = { role: 'assistant', content: text === '' && calls.length > 0 ? null : text };
    return [chunk({ ...first, ...chatCalls(calls, true) }, null), chunk({}, chatEnd(said))];
  },
  ...serverSentEvents('data: [DONE]\n\n'),
};
