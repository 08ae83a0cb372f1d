import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { openDroppedNames, type DroppedNames } from '../dropped-names.ts';
import { type Field, isList, listOf, nonEmpty, objectOf, textOf, timeOf } from '../fields.ts';
import type { ForeignItem } from '../item.ts';
import type { ForeignReader } from '../reader.ts';
import { shortHash } from '../short-hash.ts';
import { eachUnit } from '../whole-units.ts';
import { openSampleMessages } from './messages.ts';
import { exchangeOfEvent } from './model-event.ts';

/**
 * Logs of Inspect AI: one JSON document, or an archive (`.eval`) whose entries come as lines, the head first and then a line a sample.
 * A sample is a conversation, and an event `model` of it is a call with all that it was asked.
 */
export const inspect: ForeignReader = {
  name: 'inspect',
  mapping: 'inspect@1',
  summary: 'logs of Inspect AI, .json and .eval: a sample is a conversation, an event of a model a call',
  versions:
    'log versions 2 and 3, of inspect-ai 0.3 from 2024 to 2026: transcripts in samples, attachments, pools of messages, chunked samples (inspect.aisi.org.uk/eval-logs.html)',
  recognises: isHead,
  async *read(units) {
    let head: WideJsonObject | null = null;
    yield* eachUnit(units, function* ({ value, where }) {
      if (isHead(value)) {
        head = value;
        yield* headItems(value);
        for (const [i, sample] of listOf(value['samples']).entries())
          yield* sampleItems(value, sample, `sample ${i} of ${where}`);
      } else if (head === null)
        throw fail('E_INPUT_SHAPE', `${where} is no log of Inspect: it has no evaluation`);
      else yield* sampleItems(head, value, where);
    });
  },
};

/** True for a log, and for the head of one: `{version, status, eval: {task, model, …}}`. */
function isHead(value: WideJson): value is WideJsonObject {
  if (!isJsonObject(value) || !isJsonObject(value['eval'])) return false;
  const { task, model } = value['eval'];
  return typeof task === 'string' && typeof model === 'string' && !isList(value['messages']);
}

const KNOWN_OF_LOG: ReadonlySet<string> = new Set(['version', 'eval', 'samples', 'status']);
const KNOWN_OF_SAMPLE: ReadonlySet<string> = new Set([
  ...['id', 'epoch', 'input', 'messages', 'output', 'events', 'transcript', 'attachments', 'message_pool'],
  ...['events_data', 'uuid', 'model_usage', 'role_usage', 'started_at', 'completed_at'],
]);

function* headItems(log: WideJsonObject): Iterable<ForeignItem> {
  const dropped = openDroppedNames();
  dropped.fields('log', log, KNOWN_OF_LOG);
  yield* dropped.items();
  if (log['status'] === 'cancelled') yield { kind: 'count', what: 'aborted' };
}

/** @throws E_INPUT_SHAPE for a sample that is none */
function* sampleItems(log: WideJsonObject, sample: WideJson, where: string): Iterable<ForeignItem> {
  if (!isJsonObject(sample) || (sample['id'] === undefined && sample['epoch'] === undefined))
    throw fail('E_INPUT_SHAPE', `${where} is no sample of Inspect: it has no id`);
  const name = `${nameOf(sample['id'])}_epoch_${nameOf(sample['epoch'] ?? 1)}`;
  // Samples of all evaluations have such names; the evaluation has ids and a time.
  const key = `${name} of ${shortHash(log['eval'] ?? null)}`;
  const { task, packages } = objectOf(log['eval']);
  const version = nonEmpty(objectOf(packages)['inspect_ai']);
  yield {
    kind: 'conversation',
    key,
    title: `${nonEmpty(task) ?? 'task'}, sample ${nameOf(sample['id'])}`,
    ...(version !== undefined && { version }),
  };
  const dropped = openDroppedNames();
  dropped.fields('sample', sample, KNOWN_OF_SAMPLE);
  const transcript = objectOf(sample['transcript']);
  const events = isList(sample['events']) ? sample['events'] : listOf(transcript['events']);
  const attachments = sample['attachments'] ?? transcript['content'] ?? {};
  const pooled = sample['message_pool'] ?? objectOf(sample['events_data'])['messages'];
  const messages = openSampleMessages(attachments, dropped);
  let calls = 0;
  let isAnswered = false;
  for (const event of events) {
    if (!isJsonObject(event) || event['event'] !== 'model') {
      dropped.add(
        `event ${isJsonObject(event) ? (nonEmpty(event['event']) ?? 'without a name') : 'that is none'}`,
      );
      continue;
    }
    const id = `${name} call ${(calls += 1)}`;
    const { exchange, warnings } = exchangeOfEvent(event, id, { messages, dropped, pool: listOf(pooled) });
    isAnswered = exchange.end?.response != null;
    yield exchange;
    yield* warnings;
  }
  // What stands behind the last answer no call was shown, and so no call brings it.
  if (isAnswered) dropped.add('message behind the last call', behindAnswer(listOf(sample['messages'])));
  if (events.length === 0) yield* saidItems(log, sample, { messages, name });
  yield* retried(sample, dropped);
  yield* dropped.items();
}

const behindAnswer = (messages: readonly WideJson[]): number => {
  const last = messages.findLastIndex((message) => objectOf(message)['role'] === 'assistant');
  return last === -1 ? 0 : messages.length - 1 - last;
};

const nameOf = (value: Field): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 200) : '?';

/** The calls of attempts of the sample that failed are counted, and not recorded. */
function* retried(sample: WideJsonObject, dropped: DroppedNames): Iterable<ForeignItem> {
  for (const retry of listOf(sample['error_retries']))
    for (const event of listOf(objectOf(retry)['events']))
      if (objectOf(event)['event'] === 'model') dropped.add('model event of a failed attempt');
}

/** A sample without events: its messages, of which those of the model are answers. */
function* saidItems(
  log: WideJsonObject,
  sample: WideJsonObject,
  { messages, name }: { readonly messages: ReturnType<typeof openSampleMessages>; readonly name: string },
): Iterable<ForeignItem> {
  const asked = nonEmpty(objectOf(log['eval'])['model']) ?? null;
  const at = timeOf(sample['started_at']);
  for (const [i, said] of listOf(sample['messages']).entries()) {
    messages.begin();
    const where = `message ${i} of ${name}`;
    const message = messages.read(said, where);
    const { role } = message;
    const times = i === 0 && at !== undefined ? { at } : {};
    yield role === 'assistant'
      ? {
          kind: 'call',
          model: nonEmpty(objectOf(said)['model']) ?? asked,
          answer: message,
          ...times,
          missing: ['tools', 'parameters', 'usage'],
        }
      : { kind: 'message', role: textOf(role) ?? '', messages: [message], ...times };
    if (messages.hasLost()) yield { kind: 'warning', code: 'W_CONTENT_LOST', where };
  }
}
