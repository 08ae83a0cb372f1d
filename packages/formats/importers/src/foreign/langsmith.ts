import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { type Field, listOf, objectOf } from './fields.ts';
import { firstOf, parsedIn, spanOf, textIn, timeIn, wordIn } from './loose-values.ts';
import type { ForeignReader } from './reader.ts';
import { answerIn, usageIn } from './said/answer.ts';
import { openCallRecords, type CallRecords, type CallOfRecord } from './said/records.ts';
import { requestIn } from './said/request.ts';
import { eachUnit } from './whole-units.ts';

/** The types of runs; one of type `llm` is a call of a model. */
const TYPES: ReadonlySet<string> = new Set([
  ...['llm', 'chain', 'tool', 'retriever', 'embedding', 'prompt', 'parser'],
]);

/** Its id; an end may have it only in its place among the runs: `20260901T100000000000Z{id}`. */
const idOf = (run: WideJsonObject): string | null =>
  wordIn(firstOf(run['id'], run['run_id'])) ??
  /Z([0-9a-f-]{36})$/.exec(textIn(run['dotted_order']) ?? '')?.[1] ??
  null;

const isRun = (value: Field): value is WideJsonObject =>
  isJsonObject(value) &&
  idOf(value) !== null &&
  TYPES.has(textIn(value['run_type']) ?? '') &&
  ['inputs', 'trace_id', 'dotted_order', 'start_time', 'session_name'].some(
    (name) => value[name] !== undefined,
  );

/** A batch of an SDK: the ends of runs (`patch`) need not say more than which. */
const isBatch = (value: WideJsonObject): boolean => {
  const [post, patch] = [listOf(value['post']), listOf(value['patch'])];
  const isPatch = (run: WideJson): boolean =>
    isJsonObject(run) && idOf(run) !== null && ('outputs' in run || 'end_time' in run || 'trace_id' in run);
  return post.some(isRun) || (post.length === 0 && patch.some(isPatch));
};

const isLangSmith = (value: WideJson): boolean => {
  if (!isJsonObject(value)) return false;
  return isRun(value) || isBatch(value) || [...listOf(value['runs'])].slice(0, 1).some(isRun);
};

/**
 * Runs of LangSmith: lists, lines, pages of its API, traces with their `child_runs`, and the batches that its SDKs send, in which the
 * beginning of a run (`post`) and its end (`patch`) come apart. A run of type `llm` is a call; its conversation is the thread, else
 * the trace.
 */
export const langsmith: ForeignReader = {
  name: 'langsmith',
  mapping: 'langsmith@1',
  summary: 'runs of LangSmith: lists and lines of them, and the batches that its SDKs send',
  versions:
    'the runs of the API v1 and the batches of the SDKs 0.1 to 0.4, with messages of LangChain or of an API',
  recognises: (first) =>
    isLangSmith(Array.isArray(first) ? ((first as readonly WideJson[])[0] ?? null) : first),
  takesItems: isLangSmith,
  async *read(units) {
    const records = openCallRecords(callOf);
    yield* eachUnit(units, function* (unit) {
      take(unit.value, unit.where, records);
      yield* records.overflow();
    });
    yield* records.end();
  },
};

/** Takes all runs of a value. @throws E_INPUT_SHAPE with the place of what is none */
const take = (value: WideJson, where: string, records: CallRecords, isPatch = false): void => {
  if (Array.isArray(value)) {
    for (const [i, item] of (value as readonly WideJson[]).entries())
      take(item, `${where}, item ${i}`, records, isPatch);
    return;
  }
  if (!isJsonObject(value)) throw fail('E_INPUT_SHAPE', `${where} is no run of LangSmith`);
  const id = idOf(value);
  if (id !== null && (isRun(value) || isPatch)) {
    const { child_runs: children, ...run } = value;
    records.add(id, withoutContents(run), where);
    if (Array.isArray(children)) take(children, `${where}, child_runs`, records);
    return;
  }
  const held = ['post', 'patch', 'runs'].filter((name) => Array.isArray(value[name]));
  if (held.length === 0) throw fail('E_INPUT_SHAPE', `${where} is no run of LangSmith`);
  for (const name of held) take(value[name] ?? null, `${where}, ${name}`, records, name === 'patch');
};

/** Of a run that is no call only its type waits for the end. */
const withoutContents = (run: WideJsonObject): WideJsonObject => {
  const type = textIn(run['run_type']);
  return type === null || type === 'llm' ? run : { run_type: type };
};

/** The fields of a run that are read, or say which it is. */
const READ: ReadonlySet<string> = new Set([
  ...['id', 'run_id', 'run_type', 'trace_id', 'parent_run_id', 'parent_run_ids', 'dotted_order', 'name'],
  ...['inputs', 'outputs', 'error', 'start_time', 'end_time', 'first_token_time', 'extra', 'status'],
  ...[
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'prompt_token_details',
    'completion_token_details',
  ],
]);

const callOf = (id: string, run: WideJsonObject): CallOfRecord | { readonly dropped: string } => {
  const type = textIn(run['run_type']);
  if (type !== 'llm')
    return { dropped: type === null ? 'end of a run without its beginning' : `run of type ${type}` };
  const extra = objectOf(parsedIn(run['extra']));
  const about = objectOf(extra['metadata']);
  const asked = objectOf(extra['invocation_params']);
  const request = requestIn(run['inputs']);
  const said = answerIn(run['outputs']);
  const [at, end] = [timeIn(run['start_time']), timeIn(run['end_time'])];
  const error = wordIn(run['error']);
  const { model: _model, tools: offered, functions, ...parameters } = asked;
  const listed = listOf(firstOf(offered, functions));
  const isOpen = said === null && error === null && end === null;
  return {
    run:
      wordIn(firstOf(about['thread_id'], about['session_id'], about['conversation_id'])) ??
      wordIn(run['trace_id']) ??
      id,
    title: null,
    call: {
      id,
      at,
      durationMs: spanOf(at, end),
      firstByteMs: spanOf(at, timeIn(run['first_token_time'])),
      model:
        wordIn(firstOf(asked['model'], asked['model_name'], about['ls_model_name'])) ??
        request?.model ??
        null,
      messages: request?.messages ?? [],
      isGuessed: request?.isGuessed === true,
      parameters: { ...request?.parameters, ...plainOf(parameters) },
      tools: listed.length > 0 ? listed : (request?.tools ?? null),
      answer: said?.answer ?? null,
      finishReason: said?.finishReason ?? null,
      answeredBy: said?.model ?? null,
      usage: said?.usage ?? usageOf(run),
      error: error === null ? (said?.error ?? null) : { code: codeOf(error), message: error },
      ...(isOpen && { status: 'unknown' as const }),
    },
    dropped: [
      ...Object.keys(run)
        .filter((name) => !READ.has(name))
        .map((name) => `field ${name}`),
      ...Array.from({ length: said?.others ?? 0 }, () => 'further choice of an answer'),
    ],
  };
};

/** `RateLimitError('…')`, as Python writes an error. */
const codeOf = (error: string): string | null => /^([A-Za-z][\w.]{2,80})\(/.exec(error)?.[1] ?? null;

/** Parameters, and not LangChain's own marks (`_type`). */
const plainOf = (parameters: WideJsonObject): WideJsonObject =>
  Object.fromEntries(
    Object.entries(parameters).filter(
      ([name, value]) =>
        value !== null && !name.startsWith('_') && !['model_name', 'stream', 'messages'].includes(name),
    ),
  );

const usageOf = (run: WideJsonObject): ReturnType<typeof usageIn> =>
  usageIn({
    prompt_tokens: run['prompt_tokens'] ?? null,
    completion_tokens: run['completion_tokens'] ?? null,
    input_token_details: run['prompt_token_details'] ?? null,
    output_token_details: run['completion_token_details'] ?? null,
  });
