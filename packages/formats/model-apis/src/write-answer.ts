import type { WideJsonObject } from '@stemma/canonical';
import type { ReadApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import type { ToolCallToWrite } from './answer-writer.ts';
import { isList, objectOrEmpty, textOrNull } from './body.ts';
import { jsonText } from './json-text.ts';
import { textOfContent } from './write/content.ts';

/** An answer that no model gave. */
export type AnswerToWrite = {
  /** The message of the assistant in the form of OpenAI's chat API: text, calls of tools, or both. */
  readonly message: WideJsonObject;
  readonly model: string;
  /** What its ids end with; of two answers in one conversation it is not the same. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly at: number;
  readonly stream: boolean;
};

export type WrittenAnswer = { readonly contentType: string; readonly body: Uint8Array };

/** An answer in the form of an API: one body, or a stream of events. No token was used. */
export const writeAnswer = (api: ReadApi, { message, stream, ...given }: AnswerToWrite): WrittenAnswer => {
  const said = { ...given, text: textOfContent(message['content'] ?? ''), calls: callsIn(message, given.id) };
  const { writer } = formatOf(api);
  return stream
    ? { contentType: writer.streamType, body: writer.stream(writer.events(said)) }
    : { contentType: 'application/json', body: new TextEncoder().encode(jsonText(writer.whole(said))) };
};

const callsIn = ({ tool_calls: calls }: WideJsonObject, id: string): readonly ToolCallToWrite[] =>
  (isList(calls) ? calls : []).map((call, i) => {
    const { id: own, function: called, custom } = objectOrEmpty(call);
    const { name, arguments: given, input } = objectOrEmpty(called ?? custom);
    return {
      id: textOrNull(own) ?? `call_${id}_${i}`,
      name: textOrNull(name) ?? '',
      arguments: textOrNull(given ?? input) ?? jsonText(given ?? {}),
    };
  });
