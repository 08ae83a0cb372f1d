import type { WideJsonObject } from '@stemma/canonical';
import { inputOf, type AnswerContent, type AnswerWriter, type EventToWrite } from '../answer-writer.ts';
import { isLocalId } from '../blocks/local-ids.ts';
import { jsonText } from '../json-text.ts';

const head = ({ model, at }: AnswerContent): WideJsonObject => ({
  model,
  created_at: new Date(at * 1_000).toISOString(),
});

const END: WideJsonObject = {
  ...{ done: true, done_reason: 'stop', total_duration: 0, load_duration: 0 },
  ...{ prompt_eval_count: 0, prompt_eval_duration: 0, eval_count: 0, eval_duration: 0 },
};

const chatMessage = ({ text, calls }: AnswerContent): WideJsonObject => ({
  role: 'assistant',
  content: text,
  ...(calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(({ id, name, arguments: given }) => ({
          ...(isLocalId(id, name) ? {} : { id }),
          function: { name, arguments: inputOf(given) },
        })),
      }),
});

const lines: Pick<AnswerWriter, 'stream' | 'streamType'> = {
  streamType: 'application/x-ndjson',
  stream: (events) => new TextEncoder().encode(events.map((event) => `${jsonText(event)}\n`).join('')),
};

const writerOf = (whole: (said: AnswerContent) => WideJsonObject, rest: WideJsonObject): AnswerWriter => ({
  whole: (said) => ({ ...head(said), ...whole(said), ...END }),
  events: (said): readonly EventToWrite[] => [
    { ...head(said), ...whole(said), done: false },
    { ...head(said), ...rest, ...END },
  ],
  ...lines,
});

/** A message, or its lines. */
export const ollamaChatWriter = writerOf((said) => ({ message: chatMessage(said) }), {
  message: { role: 'assistant', content: '' },
});

/** A completion, or its lines; it calls no tools. */
export const ollamaCompletionWriter = writerOf(({ text }) => ({ response: text }), { response: '' });
