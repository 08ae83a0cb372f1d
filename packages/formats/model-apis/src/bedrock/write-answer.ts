import { joinBytes, type WideJsonObject } from '@stemma/canonical';
import {
  hasText,
  inputOf,
  type AnswerContent,
  type AnswerWriter,
  type EventToWrite,
} from '../answer-writer.ts';
import { anthropicWriter } from '../anthropic/write-answer.ts';
import { awsMessage } from '../aws-stream.ts';
import { jsonText } from '../json-text.ts';

/** Messages of AWS's event stream, each named by the one key of its event. */
const awsStream: Pick<AnswerWriter, 'stream' | 'streamType'> = {
  streamType: 'application/vnd.amazon.eventstream',
  stream: (events) =>
    joinBytes(
      events.flatMap((event) =>
        Object.entries(event).map(([type, payload]) =>
          awsMessage({
            headers: {
              ...{ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
            },
            payload: new TextEncoder().encode(jsonText(payload)),
          }),
        ),
      ),
    ),
};

const USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
const METRICS = { latencyMs: 0 };

const stopOf = ({ calls }: AnswerContent): string => (calls.length > 0 ? 'tool_use' : 'end_turn');

const blocksOf = (said: AnswerContent): readonly WideJsonObject[] => [
  ...(hasText(said) ? [{ text: said.text }] : []),
  ...said.calls.map(({ id, name, arguments: given }) => ({
    toolUse: { toolUseId: id, name, input: inputOf(given) },
  })),
];

const textEvents = ({ text }: AnswerContent): readonly EventToWrite[] => [
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
];

/** An answer of Converse, or the events of ConverseStream. */
export const converseWriter: AnswerWriter = {
  whole: (said) => ({
    output: { message: { role: 'assistant', content: blocksOf(said) } },
    stopReason: stopOf(said),
    usage: USAGE,
    metrics: METRICS,
  }),
  events: (said) => {
    const first = hasText(said) ? 1 : 0;
    return [
      { messageStart: { role: 'assistant' } },
      ...(hasText(said) ? textEvents(said) : []),
      ...said.calls.flatMap(({ id, name, arguments: given }, i): readonly EventToWrite[] => {
        const at = { contentBlockIndex: first + i };
        return [
          { contentBlockStart: { ...at, start: { toolUse: { toolUseId: id, name } } } },
          { contentBlockDelta: { ...at, delta: { toolUse: { input: jsonText(inputOf(given)) } } } },
          { contentBlockStop: at },
        ];
      }),
      { messageStop: { stopReason: stopOf(said) } },
      { metadata: { usage: USAGE, metrics: METRICS } },
    ];
  },
  ...awsStream,
};

/** An answer of a model of Anthropic that InvokeModel asks: its message, or chunks with its events. */
export const invokeWriter: AnswerWriter = {
  whole: anthropicWriter.whole,
  events: (said) =>
    anthropicWriter.events(said).map((event) => ({
      chunk: { bytes: Buffer.from(jsonText(event)).toString('base64') },
    })),
  ...awsStream,
};
