import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { answerError, type AnswerError, type ModelAnswer } from './answer.ts';
import type { ApiFormat, Framing } from './api-format.ts';
import type { AnswerStream } from './answer-stream.ts';
import { awsEvents } from './aws-stream.ts';
import { decodeText, guarded, wellFormedJson } from './body.ts';
import { eventStreamData, type EventData } from './event-stream.ts';
import { listItems } from './framing.ts';

/** What a stream of events says, up to the first event that cannot be read. */
export const streamAnswer = (format: ApiFormat, framing: Framing, bytes: Uint8Array): ModelAnswer => {
  const stream = format.openStream();
  const error = addAll(stream, framing, bytes);
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

const addAll = (stream: AnswerStream, framing: Framing, bytes: Uint8Array): AnswerError | null => {
  const events = EVENTS[framing](bytes)[Symbol.iterator]();
  for (;;) {
    const next = guarded(() => ({ ok: true, event: nextEvent(events) }) as const);
    if (!next.ok) return answerError(next.code, next.reason);
    if (next.event === null) return null;
    if (next.event === 'done') stream.done();
    else stream.add(next.event);
  }
};

/** The JSON values of lines; the last one may be cut off. */
function* lineData(bytes: Uint8Array): Iterable<EventData> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    const isCut = found === -1;
    // A character that the end cuts in two is left out.
    const data = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(start, end), {
      stream: isCut,
    });
    if (data.trim() !== '') yield { data, ended: !isCut };
    start = end + 1;
  }
}

function* listData(bytes: Uint8Array): Iterable<EventData> {
  for (const item of listItems(bytes).items)
    yield { data: decodeText(item, 'an event of the answer'), ended: true };
}

const EVENTS: { readonly [framing in Framing]: (bytes: Uint8Array) => Iterable<EventData> } = {
  events: eventStreamData,
  lines: lineData,
  list: listData,
  aws: awsEvents,
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
  } catch (error) {
    if (isStemmaError(error)) throw error;
    throw fail('E_INPUT_ENCODING', 'an event of the answer is not UTF-8');
  }
};
