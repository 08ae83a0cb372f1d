import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { type Field, listOf, objectOf } from './fields.ts';
import { firstOf, parsedIn, spanOf, textIn, timeIn, wordIn } from './loose-values.ts';
import type { ForeignReader } from './reader.ts';
import { answerIn, usageIn } from './said/answer.ts';
import { openCallRecords, type CallRecords, type CallOfRecord } from './said/records.ts';
import { requestIn } from './said/request.ts';
import { eachUnit } from './whole-units.ts';

/** The types of observations; a `GENERATION` is a call of a model. */
const TYPES: ReadonlySet<string> = new Set([
  ...[
    'GENERATION',
    'SPAN',
    'EVENT',
    'AGENT',
    'TOOL',
    'CHAIN',
    'RETRIEVER',
    'EVALUATOR',
    'EMBEDDING',
    'GUARDRAIL',
  ],
]);

/** A field under the name that the API gives it, or exports to a storage of files (`trace_id`). */
const field = (value: WideJsonObject, name: string): Field =>
  firstOf(value[name], value[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]);

const typeOf = (value: WideJsonObject): string | null => {
  const type = textIn(value['type']);
  return type !== null && TYPES.has(type) ? type : null;
};

const isObservation = (value: Field): value is WideJsonObject =>
  isJsonObject(value) &&
  wordIn(value['id']) !== null &&
  typeOf(value) !== null &&
  (field(value, 'traceId') !== undefined || field(value, 'startTime') !== undefined);

/** An event of the ingestion API: `{type: 'generation-create', body: {id, …}}`. */
const isEvent = (value: Field): value is WideJsonObject =>
  isJsonObject(value) &&
  isJsonObject(value['body']) &&
  /^(generation|span|event|trace|observation|score|agent|tool|sdk)-(create|update|log)$/.test(
    textIn(value['type']) ?? '',
  );

/** A trace with its observations. */
const isTrace = (value: Field): value is WideJsonObject =>
  isJsonObject(value) && wordIn(value['id']) !== null && listOf(value['observations']).some(isObservation);

const isLangfuse = (value: WideJson): boolean => {
  if (isObservation(value) || isEvent(value) || isTrace(value)) return true;
  if (!isJsonObject(value)) return false;
  if (isJsonObject(value['trace'])) return listOf(value['observations']).some(isObservation);
  return [...listOf(value['data']), ...listOf(value['batch'])].slice(0, 1).some(isLangfuse);
};

/** What a trace says of its observations. */
type Trace = { readonly session: string | null; readonly name: string | null };

/**
 * Exports of Langfuse: observations and traces as the API and the interface give them (lists, pages, lines), and batches of the
 * ingestion API, in which an observation comes in pieces. A `GENERATION` is a call; its conversation is the session, else the trace.
 */
export const langfuse: ForeignReader = {
  name: 'langfuse',
  mapping: 'langfuse@1',
  summary: 'observations and traces of Langfuse: pages of its API, exports, batches of its ingestion',
  versions:
    'the public API of Langfuse 2 and 3: usage as usageDetails, usage and promptTokens; exports to files (trace_id)',
  recognises: (first) =>
    isLangfuse(Array.isArray(first) ? ((first as readonly WideJson[])[0] ?? null) : first),
  takesItems: isLangfuse,
  async *read(units) {
    const traces = new Map<string, Trace>();
    const records = openCallRecords((id, record) => callOf(id, record, traces));
    yield* eachUnit(units, function* (unit) {
      take(unit.value, unit.where, records, traces);
      yield* records.overflow();
    });
    yield* records.end();
  },
};

/** Takes all that a value holds. @throws E_INPUT_SHAPE with the place of what is none of it */
const take = (value: WideJson, where: string, records: CallRecords, traces: Map<string, Trace>): void => {
  if (Array.isArray(value)) {
    for (const [i, item] of (value as readonly WideJson[]).entries())
      take(item, `${where}, item ${i}`, records, traces);
  } else if (isEvent(value)) takeEvent(value, where, records, traces);
  else if (isObservation(value)) takeObservation(value, where, records);
  else if (isJsonObject(value) && (isJsonObject(value['trace']) || Array.isArray(value['observations']))) {
    noteTrace(isJsonObject(value['trace']) ? value['trace'] : value, traces);
    for (const [i, item] of listOf(value['observations']).entries()) {
      // A page of traces has the ids of their observations.
      if (typeof item === 'string') records.drop('observation that is only named');
      else take(item, `${where}, observation ${i}`, records, traces);
    }
  } else if (isJsonObject(value) && (Array.isArray(value['data']) || Array.isArray(value['batch'])))
    take(firstOf(value['data'], value['batch']) ?? null, where, records, traces);
  else throw fail('E_INPUT_SHAPE', `${where} is no observation and no trace of Langfuse`);
};

const noteTrace = (trace: WideJsonObject, traces: Map<string, Trace>): void => {
  const id = wordIn(trace['id']);
  if (id === null) return;
  const before = traces.get(id);
  traces.set(id, {
    session: wordIn(field(trace, 'sessionId')) ?? before?.session ?? null,
    name: wordIn(trace['name']) ?? before?.name ?? null,
  });
};

const takeObservation = (value: WideJsonObject, where: string, records: CallRecords): void => {
  const type = typeOf(value);
  if (type === 'GENERATION') records.add(wordIn(value['id']) ?? '', value, where);
  else records.drop(`observation of type ${type ?? 'unknown'}`);
};

const takeEvent = (
  event: WideJsonObject,
  where: string,
  records: CallRecords,
  traces: Map<string, Trace>,
): void => {
  const body = objectOf(event['body']);
  const type = textIn(event['type']) ?? '';
  if (type === 'trace-create') noteTrace(body, traces);
  else if (type.startsWith('generation-') || typeOf(body) === 'GENERATION') {
    const id = wordIn(body['id']);
    if (id === null) throw fail('E_INPUT_SHAPE', `${where} is a generation without an id`);
    records.add(id, { ...body, type: 'GENERATION' }, where);
  } else records.drop(`event ${type}`);
};

/** The fields of an observation that are read, or say which it is. */
const READ: ReadonlySet<string> = new Set([
  ...[
    'id',
    'type',
    'traceId',
    'parentObservationId',
    'name',
    'traceName',
    'sessionId',
    'startTime',
    'endTime',
  ],
  ...['completionStartTime', 'model', 'providedModelName', 'modelParameters', 'input', 'output', 'usage'],
  ...['usageDetails', 'promptTokens', 'completionTokens', 'totalTokens', 'level', 'statusMessage', 'latency'],
]);

const callOf = (id: string, record: WideJsonObject, traces: ReadonlyMap<string, Trace>): CallOfRecord => {
  const of = (name: string): Field => field(record, name);
  const traceId = wordIn(of('traceId')) ?? id;
  const trace = traces.get(traceId);
  const { input, tools: offered } = withoutTools(parsedIn(of('input')));
  const request = requestIn(input);
  const said = answerIn(of('output'));
  const [at, end] = [timeIn(of('startTime')), timeIn(of('endTime'))];
  const failed = record['level'] === 'ERROR';
  const message = wordIn(of('statusMessage'));
  return {
    run: wordIn(of('sessionId')) ?? trace?.session ?? traceId,
    title: trace?.name ?? wordIn(of('traceName')),
    call: {
      id,
      at,
      durationMs: spanOf(at, end),
      firstByteMs: spanOf(at, timeIn(of('completionStartTime'))),
      model: wordIn(firstOf(of('model'), of('providedModelName'))) ?? request?.model ?? null,
      messages: request?.messages ?? [],
      isGuessed: request?.isGuessed === true,
      parameters: { ...request?.parameters, ...objectOf(parsedIn(of('modelParameters'))) },
      tools: offered.length > 0 ? offered : (request?.tools ?? null),
      answer: failed && said?.answer?.['content'] === message ? null : (said?.answer ?? null),
      finishReason: said?.finishReason ?? null,
      answeredBy: said?.model ?? null,
      usage: usageOf(record) ?? said?.usage ?? null,
      error: failed
        ? { code: null, message: message ?? 'the observation failed, and does not say why' }
        : (said?.error ?? null),
    },
    dropped: [
      ...Object.keys(record)
        .map((name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
        .filter((name) => !READ.has(name))
        .map((name) => `field ${name}`),
      ...Array.from({ length: said?.others ?? 0 }, () => 'further choice of an answer'),
    ],
  };
};

/** `usageDetails: {input, output, input_cached_tokens}`, `usage: {promptTokens}`, or the counts beside each other. */
const usageOf = (record: WideJsonObject): ReturnType<typeof usageIn> =>
  usageIn(parsedIn(field(record, 'usageDetails'))) ??
  usageIn(parsedIn(record['usage'])) ??
  usageIn({
    promptTokens: field(record, 'promptTokens') ?? null,
    completionTokens: field(record, 'completionTokens') ?? null,
  });

/** LangChain's handler lists the tools among the messages: `{role: 'tool', content: {type: 'function', function}}`. */
const withoutTools = (input: Field): { readonly input: Field; readonly tools: readonly WideJson[] } => {
  const isTool = (item: WideJson): boolean =>
    isJsonObject(item) && item['role'] === 'tool' && objectOf(item['content'])['type'] === 'function';
  const items = listOf(input);
  const tools = items.filter(isTool).map((item) => objectOf(item)['content'] ?? null);
  return tools.length === 0 ? { input, tools } : { input: items.filter((item) => !isTool(item)), tools };
};
