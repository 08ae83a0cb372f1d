import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { answerError, type AnswerError, type ModelAnswer } from './answer.ts';
import type { AnswerStream } from './answer-stream.ts';
import { openAnthropicStream } from './anthropic/stream.ts';
import type { ModelApi } from './api-of.ts';
import { guarded, wellFormedJson } from './body.ts';
import { openChatStream } from './chat/stream.ts';
import { eventStreamData, type EventData } from './event-stream.ts';
import { openResponsesStream } from './responses/stream.ts';

const STREAMS: { readonly [api in Exclude<ModelApi, 'other'>]: () => AnswerStream } = {
  'openai.chat': openChatStream,
  'openai.responses': openResponsesStream,
  'anthropic.messages': openAnthropicStream,
};

/** What a stream of server-sent events says, up to the first event that cannot be read. */
export const streamAnswer = (api: Exclude<ModelApi, 'other'>, bytes: Uint8Array): ModelAnswer => {
  const stream = STREAMS[api]();
  const error = addAll(stream, bytes);
  const answer = withKnownUsage(stream.answer());
  return error === null ? answer : { ...answer, error: answer.error ?? error, complete: false };
};

/**
 * Counts of the tokens of an answer are known when it says why it ended: those before are placeholders, as the 1 of Anthropic's
 * `message_start`, or what came so far.
 */
const withKnownUsage = (answer: ModelAnswer): ModelAnswer => {
  const { complete, finishReason, usage } = answer;
  if (complete || finishReason !== null || usage === null) return answer;
  return { ...answer, usage: { ...usage, output: null, reasoning: null } };
};

const addAll = (stream: AnswerStream, bytes: Uint8Array): AnswerError | null => {
  const events = eventStreamData(bytes)[Symbol.iterator]();
  for (;;) {
    const next = guarded(() => ({ ok: true, event: nextEvent(events) }) as const);
    if (!next.ok) return answerError(next.code, next.reason);
    if (next.event === null) return null;
    if (next.event === 'done') stream.done();
    else stream.add(next.event);
  }
};

/** The next event; null at the end, and for a last event that is cut off. @throws what is wrong with it */
const nextEvent = (events: Iterator<EventData>): WideJsonObject | 'done' | null => {
  const next = nextData(events);
  if (next === null) return null;
  const { data, ended } = next;
  if (data.trim() === '[DONE]') return 'done';
  const event = guarded(() => ({ ok: true, value: wellFormedJson(data, 'an event of the answer') }) as const);
  if (!event.ok && !ended) return null;
  if (!event.ok) throw fail(event.code, event.reason);
  if (!isJsonObject(event.value)) throw fail('E_INPUT_SHAPE', 'an event of the answer is not a JSON object');
  return event.value;
};

const nextData = (events: Iterator<EventData>): EventData | null => {
  try {
    const next = events.next();
    return next.done === true ? null : next.value;
  } catch {
    throw fail('E_INPUT_ENCODING', 'an event of the answer is not UTF-8');
  }
};
