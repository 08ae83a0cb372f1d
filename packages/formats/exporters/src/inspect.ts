import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { jsonText, textOfContent } from '@stemma/model-apis';
import { argumentsOf } from './arguments-of.ts';
import type { ExportedCall, ExportedMessage, Exporter, ExportSource } from './exporter.ts';
import { isoTime, kindOfPart, listOf, objectOf, partsOf, textOf } from './fields.ts';
import { configOf, toolChoiceOf } from './inspect-config.ts';
import { type Losses, openLosses, openPromptLosses } from './losses.ts';
import { readCalls } from './transcript.ts';

/**
 * A log of Inspect AI (JSON, version 2): the history is a sample, and each call an event of its model. Events name their messages by
 * their numbers in the pool of the sample, so a log grows with what was said and not with the sum of the prompts.
 */
export const inspect: Exporter = {
  name: 'inspect',
  summary: 'a log of Inspect AI (.json, version 2): the history is a sample, a call an event of the model',
  isText: true,
  files: [
    {
      suffix: '',
      async *write(source, lost) {
        yield `${jsonText(headOf(source, await firstCall(source))).slice(0, -1)},"samples":[\n{"id":1,"epoch":1,"events":[`;
        const pool: Pool = { messages: [], numbers: new Map() };
        let events = 0;
        const prompt = openPrompt(pool, lost);
        const [first] = source.branches;
        for await (const item of readCalls(source, lost, (branch) => branch === first))
          yield `${events++ === 0 ? '' : ','}\n${jsonText(eventOf(item, prompt.refs(item.shown), lost))}`;
        yield '],"events_data":{"calls":[],"messages":[';
        for (const [i, message] of pool.messages.entries()) yield `${i === 0 ? '' : ','}\n${message}`;
        const shown = await tipOf(source);
        const input = textOfContent(shown.find(({ role }) => role === 'user')?.['content']);
        // They are in the pool already, but for those that no call was shown.
        const messages = shown.map((message) => inspectMessage(message, openLosses()));
        yield `]},"input":${jsonText(input)},"target":"","messages":${jsonText(messages)}}\n]}\n`;
      },
    },
  ],
};

/** The first call of all branches, and when the first one went out. */
const firstCall = async ({
  branches,
}: ExportSource): Promise<{ readonly model: string | null; readonly at: number | null }> => {
  let [model, at]: [string | null, number | null] = [null, null];
  for await (const { calls } of branches[0]?.steps() ?? [])
    for (const call of calls) {
      model ??= call.model;
      at ??= call.sentAt;
      if (model !== null && at !== null) return { model, at };
    }
  return { model, at };
};

/** The messages of the first branch at its tip. */
const tipOf = async ({ branches }: ExportSource): Promise<readonly WideJsonObject[]> => {
  let tip: readonly ExportedMessage[] = [];
  for await (const { cycle, messages } of branches[0]?.steps() ?? []) if (cycle === null) tip = messages;
  return tip.map(({ message }) => message);
};

const headOf = (
  { history, name, version, format }: ExportSource,
  { model, at }: { readonly model: string | null; readonly at: number | null },
): WideJsonObject => ({
  version: 2,
  status: 'success',
  eval: {
    eval_id: history,
    run_id: history,
    created: isoTime(at ?? 0) as string,
    task: name,
    task_id: history,
    dataset: { name, samples: 1, sample_ids: [1] },
    model: model ?? 'unknown',
    config: {},
    packages: version !== null && format === 'inspect' ? { inspect_ai: version } : {},
  },
});

/** The messages of a sample as JSON, each once, and their numbers. */
type Pool = { readonly messages: string[]; readonly numbers: Map<string, number> };

const numberIn = ({ messages, numbers }: Pool, message: string): number => {
  const number = numbers.get(message) ?? messages.push(message) - 1;
  numbers.set(message, number);
  return number;
};

/** Puts the messages of prompts into the pool. */
const openPrompt = (pool: Pool, lost: Losses) => {
  let before: readonly ExportedMessage[] = [];
  const numbers: number[] = [];
  const lostOf = openPromptLosses(lost);
  return {
    /** The messages as ranges of the pool. */
    refs(shown: readonly ExportedMessage[]): readonly WideJson[] {
      let same = 0;
      while (same < numbers.length && before[same] === shown[same]) same++;
      numbers.length = same;
      for (const { message } of shown.slice(same))
        numbers.push(numberIn(pool, jsonText(inspectMessage(message, lostOf(message)))));
      before = shown;
      const ranges: [number, number][] = [];
      for (const number of numbers) {
        const last = ranges.at(-1);
        if (last?.[1] === number) last[1] = number + 1;
        else ranges.push([number, number + 1]);
      }
      return ranges;
    },
  };
};

const eventOf = (
  { call, answer }: { readonly call: ExportedCall; readonly answer: WideJsonObject | null },
  refs: readonly WideJson[],
  lost: Losses,
): WideJsonObject => {
  const { model, sentAt, durationMs, status, error } = call;
  const [at, until] = [isoTime(sentAt), isoTime(sentAt === null ? null : sentAt + (durationMs ?? 0))];
  const isPending = status === 'unknown' && answer === null;
  const { config, choice } = configOf(call);
  const fault = status === 'cancelled' ? 'Cancelled by operator' : (error?.message ?? null);
  return {
    event: 'model',
    ...(at !== undefined && { timestamp: at }),
    ...(at !== undefined && durationMs !== null && until !== undefined && { completed: until }),
    ...(at === undefined && durationMs !== null && { working_time: durationMs / 1000 }),
    model: model ?? 'unknown',
    input: [],
    input_refs: refs,
    tools: (call.tools ?? []).map((tool) => toolOf(objectOf(tool), lost)),
    tool_choice: toolChoiceOf(choice) ?? 'auto',
    config,
    output: {
      ...(model !== null && { model }),
      choices: answer === null ? [] : [choiceOf(answer, call, lost)],
      ...usageOf(call),
    },
    ...(fault !== null && { error: fault }),
    ...(isPending && { pending: true }),
  };
};

const STOPS: ReadonlySet<string> = new Set([
  ...['stop', 'max_tokens', 'model_length', 'tool_calls', 'content_filter', 'unknown'],
]);

const choiceOf = (answer: WideJsonObject, { finishReason }: ExportedCall, lost: Losses): WideJsonObject => {
  const isKnown = finishReason !== null && STOPS.has(finishReason);
  if (finishReason !== null && !isKnown) lost.add(`finish reason ${finishReason}`);
  return {
    message: inspectMessage({ ...answer, role: 'assistant' }, lost),
    stop_reason: isKnown ? finishReason : 'unknown',
  };
};

/** Newer logs count in `input_tokens` what no cache served: the total tells. */
const usageOf = ({ usage }: ExportedCall): WideJsonObject => {
  if (usage === null) return {};
  const { input, output, cached, cacheWrite, reasoning } = usage;
  const ofCache = (cached ?? 0) + (cacheWrite ?? 0);
  const isWhole = input === null || input < ofCache;
  return {
    usage: {
      ...(input !== null && { input_tokens: isWhole ? input : input - ofCache }),
      ...(output !== null && { output_tokens: output }),
      total_tokens: (input ?? 0) + (output ?? 0),
      ...(cached !== null && { input_tokens_cache_read: cached }),
      ...(cacheWrite !== null && { input_tokens_cache_write: cacheWrite }),
      ...(reasoning !== null && { reasoning_tokens: reasoning }),
    },
  };
};

const toolOf = (tool: WideJsonObject, lost: Losses): WideJsonObject => {
  const named = objectOf(tool['function'] ?? tool);
  const { name, description, parameters, input_schema: schema, options } = named;
  const given = objectOf(parameters ?? schema);
  if (textOf(name) === undefined) lost.add('tool that runs at its provider');
  return {
    name: textOf(name) ?? textOf(tool['type']) ?? 'tool',
    description: textOf(description) ?? '',
    parameters: { type: 'object', properties: {}, ...given },
    ...(options !== undefined && { options: objectOf(options) }),
  };
};

/** A message in Inspect's form. */
const inspectMessage = (message: WideJsonObject, lost: Losses): WideJsonObject => {
  const {
    role,
    content,
    tool_calls: calls,
    tool_call_id: id,
    is_error: failed,
    error,
    name,
    ...rest
  } = message;
  for (const field of Object.keys(rest)) lost.add(`field ${field} of a message`);
  const said = contentOf(content, lost);
  if (role === 'assistant') {
    const made = listOf(calls).map((call) => callOf(objectOf(call), lost));
    return { role, content: said, ...(made.length > 0 && { tool_calls: made }) };
  }
  if (role === 'tool' || role === 'function')
    return {
      role: 'tool',
      content: said,
      ...(typeof id === 'string' && { tool_call_id: id }),
      ...(typeof name === 'string' && { function: name }),
      ...(failed === true && { error: errorOf(error, content) }),
    };
  if (name !== undefined) lost.add('name of a message');
  if (role === 'developer') lost.add('role developer');
  return { role: role === 'system' || role === 'developer' ? 'system' : 'user', content: said };
};

const errorOf = (error: WideJson | undefined, content: WideJson | undefined): WideJsonObject => {
  const { type, message } = objectOf(error);
  if (typeof type === 'string' && typeof message === 'string') return { type, message };
  return { type: 'unknown', message: textOf(error) ?? textOfContent(content) };
};

const callOf = (call: WideJsonObject, lost: Losses): WideJsonObject => {
  const { id, type, function: named, custom, parse_error: fault, ...rest } = call;
  for (const field of Object.keys(rest)) lost.add(`field ${field} of a tool call`);
  const { name, arguments: given, input } = objectOf(named ?? custom);
  const made = argumentsOf(textOf(given ?? input) ?? '');
  if (typeof made === 'string' && made !== '') lost.add('arguments that are no JSON object');
  return {
    id: textOf(id) ?? '',
    function: textOf(name) ?? '',
    arguments: typeof made === 'string' ? (made === '' ? {} : { input: made }) : made,
    type: type === 'custom' ? 'custom' : 'function',
    ...(typeof fault === 'string' && { parse_error: fault }),
  };
};

const contentOf = (content: WideJson | undefined, lost: Losses): WideJson =>
  typeof content === 'string' ? content : partsOf(content).map((part) => inspectPart(part, lost));

const inspectPart = (part: WideJsonObject, lost: Losses): WideJsonObject => {
  const kind = kindOfPart(part);
  if (kind === 'text') return { type: 'text', text: textOf(part['text']) ?? '' };
  if (kind === 'thinking') return reasoningOf(part);
  const url = kind === 'image' ? imageOf(part) : undefined;
  if (url !== undefined) {
    const detail = textOf(objectOf(part['image_url'])['detail']) ?? textOf(part['detail']);
    return { type: 'image', image: url, ...(detail !== undefined && { detail }) };
  }
  if (kind === 'data') return part;
  lost.add(`part ${kind}`);
  return { type: 'data', data: part };
};

const reasoningOf = (part: WideJsonObject): WideJsonObject => {
  const { signature, data, thinking, text, reasoning, summary } = part;
  const isHidden = part['type'] === 'redacted_thinking';
  return {
    type: 'reasoning',
    reasoning: textOf(isHidden ? data : (thinking ?? reasoning ?? text)) ?? '',
    ...(typeof signature === 'string' && { signature }),
    ...(isHidden && { redacted: true }),
    ...(typeof summary === 'string' && { summary }),
  };
};

const imageOf = ({ image_url: image, source, image: own }: WideJsonObject): string | undefined => {
  const { data, media_type: type, url } = objectOf(source);
  if (typeof data === 'string') return `data:${textOf(type) ?? 'image/png'};base64,${data}`;
  return textOf(image) ?? textOf(objectOf(image)['url']) ?? textOf(url) ?? textOf(own);
};
