import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { CallStatus, CallUsage } from '@stemma/events';
import { fail } from '@stemma/errors';
import type { DroppedNames } from '../dropped-names.ts';
import {
  countOf,
  durationOf,
  type Field,
  isList,
  listOf,
  nonEmpty,
  objectOf,
  textOf,
  timeOf,
} from '../fields.ts';
import type { ForeignExchange, ForeignWarning, MissingPart } from '../item.ts';
import type { SampleMessages } from './messages.ts';

/** What a sample has of its events besides them. */
export type SampleSource = {
  readonly messages: SampleMessages;
  readonly dropped: DroppedNames;
  /** The messages that events refer to by their numbers. */
  readonly pool: readonly WideJson[];
};

/** The most messages of a request: ranges of a pool may be named any number of times. */
const MOST_MESSAGES = 1_000_000;

const KNOWN: ReadonlySet<string> = new Set([
  ...[
    'event',
    'model',
    'input',
    'input_refs',
    'tools',
    'tool_choice',
    'config',
    'output',
    'error',
    'completed',
  ],
  ...['timestamp', 'working_time', 'pending'],
]);
const KNOWN_OF_OUTPUT: ReadonlySet<string> = new Set([
  ...['model', 'choices', 'usage', 'error', 'time', 'completion'],
]);
const KNOWN_OF_TOOL: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'options']);

/** What Inspect writes as the error of a call that somebody or something stopped. */
const CANCELLED: ReadonlySet<string> = new Set(
  ['operator', 'limit', 'system'].map((by) => `Cancelled by ${by}`),
);

/** A call of a model as a log has it. @throws E_INPUT_SHAPE, E_INPUT_TOO_LARGE */
export const exchangeOfEvent = (
  event: WideJsonObject,
  id: string,
  { messages, dropped, pool }: SampleSource,
): { readonly exchange: ForeignExchange; readonly warnings: readonly ForeignWarning[] } => {
  messages.begin();
  dropped.fields('model event', event, KNOWN);
  const output = objectOf(event['output']);
  dropped.fields('model output', output, KNOWN_OF_OUTPUT);
  const choices = listOf(output['choices']);
  if (choices.length > 1) dropped.add('further choice', choices.length - 1);
  const [choice] = choices;
  const answer = isJsonObject(choice) && isJsonObject(choice['message']) ? choice['message'] : null;
  const isEmpty = answer === null || (answer['content'] === '' && listOf(answer['tool_calls']).length === 0);
  const message = nonEmpty(event['error']) ?? nonEmpty(output['error']);
  const error = message === undefined ? null : { code: null, message: messages.text(message) };
  const { usage, isDoubtful } = usageOf(output['usage']);
  const at = timeOf(event['timestamp']);
  const said = inputOf(event, pool, id).map((one, i) => messages.read(one, `message ${i} of ${id}`));
  const read =
    answer === null || (error !== null && isEmpty) ? null : messages.read(answer, `the answer of ${id}`);
  const exchange: ForeignExchange = {
    kind: 'exchange',
    id,
    ...(at !== undefined && { at }),
    request: {
      form: 'said',
      model: nonEmpty(event['model']) ?? null,
      messages: said,
      parameters: parametersOf(event),
      tools: toolsOf(event['tools'], { messages, dropped }),
    },
    end:
      event['pending'] === true
        ? null
        : {
            status: statusOf(error?.message ?? null, read !== null),
            durationMs: durationIn(event, at),
            error,
            response:
              read === null
                ? null
                : {
                    form: 'said',
                    answer: read,
                    finishReason: textOf(objectOf(choice)['stop_reason']) ?? null,
                    model: nonEmpty(output['model']) ?? null,
                    usage,
                  },
          },
    fidelity: 'same',
    missing: missingOf(event, usage, read),
  };
  const warnings: ForeignWarning[] = [];
  if (isDoubtful) warnings.push({ kind: 'warning', code: 'W_USAGE_DOUBTFUL', where: id });
  if (messages.hasLost()) warnings.push({ kind: 'warning', code: 'W_CONTENT_LOST', where: id });
  return { exchange, warnings };
};

const statusOf = (error: string | null, hasAnswer: boolean): CallStatus => {
  if (error !== null) return CANCELLED.has(error) ? 'cancelled' : 'failed';
  return hasAnswer ? 'answered' : 'unknown';
};

/** The messages of the request: they stand in the event, or in the pool that it names ranges of, `[from, to)`. */
const inputOf = (event: WideJsonObject, pool: readonly WideJson[], id: string): readonly WideJson[] => {
  const { input_refs: refs } = event;
  if (!isList(refs)) return listOf(event['input']);
  const found: WideJson[] = [];
  for (const ref of refs) {
    const [from, to] = isList(ref) ? [countOf(ref[0]), countOf(ref[1])] : [null, null];
    if (from === null || to === null || to < from || to > pool.length)
      throw fail('E_INPUT_SHAPE', `${id} names messages that the sample does not have`);
    if (found.length + to - from > MOST_MESSAGES)
      throw fail('E_INPUT_TOO_LARGE', `${id} has more than ${MOST_MESSAGES} messages`);
    for (let i = from; i < to; i++) found.push(pool[i] ?? null);
  }
  return found;
};

const parametersOf = (event: WideJsonObject): { readonly [name: string]: WideJson } => {
  const set = Object.entries(objectOf(event['config'])).filter(([, value]) => value !== null);
  const { tool_choice: choice } = event;
  const asksForTools = listOf(event['tools']).length > 0 && choice !== undefined && choice !== null;
  return Object.fromEntries(asksForTools ? [...set, ['tool_choice', choice]] : set);
};

const toolsOf = (
  tools: Field,
  { messages, dropped }: Pick<SampleSource, 'messages' | 'dropped'>,
): readonly WideJson[] | null => {
  if (!isList(tools)) return null;
  return tools.map((tool) => {
    const said = objectOf(tool);
    dropped.fields('tool', said, KNOWN_OF_TOOL);
    const { name = '', description, parameters, options } = said;
    return {
      type: 'function',
      function: messages.whole({
        name,
        ...(typeof description === 'string' && { description }),
        ...(isJsonObject(parameters) && { parameters }),
        ...(isJsonObject(options) && { options }),
      }),
    };
  });
};

/** The milliseconds that the call took: until it was completed, else what it worked. */
const durationIn = (event: WideJsonObject, at: number | undefined): number | null => {
  const until = timeOf(event['completed']);
  if (at !== undefined && until !== undefined && until >= at) return until - at;
  const seconds = event['working_time'] ?? objectOf(event['output'])['time'];
  return typeof seconds === 'number' ? durationOf(seconds * 1000) : null;
};

/**
 * The tokens. `input_tokens` of newer logs leaves out what a cache served, of older ones it has that: the total tells which it is.
 */
const usageOf = (value: Field): { readonly usage: CallUsage | null; readonly isDoubtful: boolean } => {
  if (!isJsonObject(value)) return { usage: null, isDoubtful: false };
  const [input, output] = [countOf(value['input_tokens']), countOf(value['output_tokens'])];
  const [read, written] = [
    countOf(value['input_tokens_cache_read']),
    countOf(value['input_tokens_cache_write']),
  ];
  const all = (input ?? 0) + (output ?? 0);
  const cached = (read ?? 0) + (written ?? 0);
  const total = countOf(value['total_tokens']);
  const hasCached = cached > 0 && total === all;
  return {
    usage: {
      input: input === null ? null : hasCached ? input : input + cached,
      output,
      cached: read,
      cacheWrite: written,
      reasoning: countOf(value['reasoning_tokens']),
    },
    isDoubtful: total !== null && total !== 0 && total !== all && total !== all + cached,
  };
};

const missingOf = (
  event: WideJsonObject,
  usage: CallUsage | null,
  answer: WideJsonObject | null,
): readonly MissingPart[] => [
  ...(isList(event['tools']) ? [] : (['tools'] as const)),
  ...(isJsonObject(event['config']) ? [] : (['parameters'] as const)),
  ...(answer === null ? (['answer'] as const) : []),
  ...(usage === null ? (['usage'] as const) : []),
];
