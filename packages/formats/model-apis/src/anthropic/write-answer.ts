import type { WideJsonObject } from '@stemma/canonical';
import {
  hasText,
  inputOf,
  type AnswerWriter,
  type EventToWrite,
  type AnswerContent,
} from '../answer-writer.ts';
import { serverSentEvents } from '../event-writer.ts';
import { jsonText } from '../json-text.ts';

const anthropicBlocks = ({ text, calls }: AnswerContent): readonly WideJsonObject[] => [
  ...(hasText({ text, calls }) ? [{ type: 'text', text }] : []),
  ...calls.map(({ id, name, arguments: given }) => ({ type: 'tool_use', id, name, input: inputOf(given) })),
];

const anthropicWith = (
  { id, model }: AnswerContent,
  content: readonly WideJsonObject[],
  end: string | null,
): WideJsonObject => ({
  ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model, content },
  ...{ stop_reason: end, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } },
});

const anthropicEnd = ({ calls }: AnswerContent): string => (calls.length > 0 ? 'tool_use' : 'end_turn');

/** A message, or the events of one. */
export const anthropicWriter: AnswerWriter = {
  whole: (said) => anthropicWith(said, anthropicBlocks(said), anthropicEnd(said)),
  events: (said) => [
    { type: 'message_start', message: anthropicWith(said, [], null) },
    ...anthropicBlocks(said).flatMap((block, index): readonly EventToWrite[] => {
      const isText = block['type'] === 'text';
      const delta = isText
        ? { type: 'text_delta', text: block['text'] ?? '' }
        : { type: 'input_json_delta', partial_json: jsonText(block['input'] ?? {}) };
      const open = isText ? { ...block, text: '' } : { ...block, input: {} };
      return [
        { type: 'content_block_start', index, content_block: open },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ];
    }),
    {
      type: 'message_delta',
      delta: { stop_reason: anthropicEnd(said), stop_sequence: null },
      usage: { output_tokens: 0 },
    },
    { type: 'message_stop' },
  ],
  ...serverSentEvents(),
};
