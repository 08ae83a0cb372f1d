import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { jsonText } from '@stemma/model-apis';
import { argumentsOf } from './arguments-of.ts';
import type { ExportedBranch, ExportedCall, Exporter, ExportSource } from './exporter.ts';
import { isoTime, kindOfPart, listOf, objectOf, partsOf, textOf, thinkingText } from './fields.ts';
import type { Losses } from './losses.ts';
import { readTranscript, type TranscriptItem } from './transcript.ts';

/**
 * Trajectories of Harbor (ATIF-v1.7): a document for each branch, several as a list. A call is a step of the agent with metrics; of a
 * branch that began from another one, the steps before are copied context.
 */
export const atif: Exporter = {
  name: 'atif',
  summary: 'trajectories of Harbor (ATIF-v1.7), one a branch: a call is a step of the agent with metrics',
  isText: true,
  files: [
    {
      suffix: '',
      async *write(source, lost) {
        const isList = source.branches.length > 1;
        if (isList) yield '[';
        for (const [i, branch] of source.branches.entries()) {
          if (i > 0) yield ',\n';
          yield* trajectory(source, branch, lost);
        }
        yield isList ? ']\n' : '\n';
      },
    },
  ],
};

async function* trajectory(
  source: ExportSource,
  branch: ExportedBranch,
  lost: Losses,
): AsyncGenerator<string> {
  const agent = await agentOf(source, branch, lost);
  const { history, name, branches } = source;
  const own = branches.length > 1 ? { trajectory_id: `${history}:${branch.branchId}` } : {};
  const head = { schema_version: 'ATIF-v1.7', session_id: name, ...own, agent };
  yield `${jsonText(head).slice(0, -1)},"steps":[`;
  let number = 0;
  let step: Step | null = null;
  const written = (done: Step): string => {
    number += 1;
    return `${number === 1 ? '' : ','}\n${jsonText({ step_id: number, ...done.fields, ...observationOf(done) })}`;
  };
  for await (const item of readTranscript(source, branch)) {
    if (step !== null && item.kind === 'message' && takesResult(step, item)) continue;
    if (item.kind === 'removed') {
      if (item.isOwn) lost.add('message that was shown no more', item.count);
      continue;
    }
    if (step !== null) yield written(step);
    step = item.kind === 'call' ? stepOfCall(item, agent, lost) : stepOfMessage(item, lost);
  }
  if (step !== null) yield written(step);
  yield ']}';
}

type Agent = {
  readonly name: string;
  readonly version: string;
  readonly model_name?: string;
  readonly tool_definitions?: readonly WideJson[];
};

/** Model and tools of a trajectory are those of its first call that says them. */
const agentOf = async (source: ExportSource, branch: ExportedBranch, lost: Losses): Promise<Agent> => {
  let model: string | null = null;
  let tools: readonly WideJson[] | null = null;
  for await (const { calls } of branch.steps())
    for (const call of calls) {
      model ??= call.model;
      if (call.tools === null) continue;
      tools ??= call.tools;
      if (call.tools.length !== tools.length || jsonText([...call.tools]) !== jsonText([...tools]))
        lost.add('tools that differ from those of the first call');
    }
  return {
    name: source.name,
    version: source.version ?? 'unknown',
    ...(model !== null && { model_name: model }),
    ...(tools !== null && { tool_definitions: tools }),
  };
};

type Step = {
  readonly fields: WideJsonObject;
  /** Those that its results answer. */
  readonly callIds: ReadonlySet<string>;
  readonly results: WideJsonObject[];
};

const observationOf = ({ results }: Step): WideJsonObject =>
  results.length === 0 ? {} : { observation: { results } };

/** Adds the result of a tool to the step that called it; false: it is another message. */
const takesResult = (
  step: Step,
  { message }: Extract<TranscriptItem, { readonly kind: 'message' }>,
): boolean => {
  const { role, tool_call_id: id, content, is_error: failed } = message;
  if (role !== 'tool' || typeof id !== 'string' || id === '') return false;
  if (step.fields['source'] !== 'agent') return false;
  step.results.push({
    source_call_id: id,
    content: contentOf(content),
    ...(failed === true && { extra: { is_error: true } }),
  });
  return true;
};

const stepOfMessage = (
  { message, at, isOwn }: Extract<TranscriptItem, { readonly kind: 'message' }>,
  lost: Losses,
): Step => {
  const { role, content } = message;
  const time = isoTime(at);
  const times = {
    ...(time !== undefined && { timestamp: time }),
    ...(!isOwn && { is_copied_context: true }),
  };
  if (role === 'assistant') return agentStep(message, times, lost);
  if (role === 'tool' || role === 'function') {
    const id = textOf(message['tool_call_id']) ?? '';
    const result = { ...(id !== '' && { source_call_id: id }), content: contentOf(content) };
    const failed = message['is_error'] === true ? { extra: { is_error: true } } : {};
    return {
      fields: { ...times, source: 'agent', message: '' },
      callIds: new Set(),
      results: [{ ...result, ...failed }],
    };
  }
  const source = role === 'system' || role === 'developer' ? 'system' : 'user';
  if (role === 'developer') lost.add('role developer');
  if (message['name'] !== undefined) lost.add('name of a message');
  return { fields: { ...times, source, message: contentOf(content) }, callIds: new Set(), results: [] };
};

const stepOfCall = (
  { call, answer, isOwn }: Extract<TranscriptItem, { readonly kind: 'call' }>,
  agent: Agent,
  lost: Losses,
): Step => {
  const time = isoTime(call.sentAt);
  const { reasoning_effort: effort, ...others } = objectOf(call.parameters);
  if (isOwn) for (const name of Object.keys(others)) lost.add(`parameter ${name}`);
  if (isOwn && call.error !== null) lost.add('error of a call');
  if (isOwn && call.durationMs !== null) lost.add('duration of a call');
  const usage = metricsOf(call);
  return agentStep(
    answer ?? { role: 'assistant', content: '' },
    {
      ...(time !== undefined && { timestamp: time }),
      ...(call.model !== null && call.model !== agent.model_name && { model_name: call.model }),
      ...((typeof effort === 'string' || typeof effort === 'number') && { reasoning_effort: effort }),
      metrics: usage,
      ...(!isOwn && { is_copied_context: true }),
    },
    lost,
  );
};

const metricsOf = ({ usage }: ExportedCall): WideJsonObject => {
  if (usage === null) return {};
  const { input, output, cached, cacheWrite, reasoning } = usage;
  const extra = {
    ...(cacheWrite !== null && { cache_creation_input_tokens: cacheWrite }),
    ...(reasoning !== null && { reasoning_tokens: reasoning }),
  };
  return {
    ...(input !== null && { prompt_tokens: input }),
    ...(output !== null && { completion_tokens: output }),
    ...(cached !== null && { cached_tokens: cached }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
};

const agentStep = (message: WideJsonObject, more: WideJsonObject, lost: Losses): Step => {
  const parts = partsOf(message['content']);
  const thoughts = parts.filter((part) => kindOfPart(part) === 'thinking');
  const texts = thoughts.map(thinkingText);
  lost.add('thinking without a text', texts.filter((text) => text === undefined).length);
  lost.add('signature of thinking', thoughts.filter(({ signature }) => signature !== undefined).length);
  const said = thoughts.length === 0 ? message['content'] : parts.filter((part) => !thoughts.includes(part));
  const calls = listOf(message['tool_calls']).map(objectOf);
  const reasoning = texts.filter((text) => text !== undefined && text !== '').join('\n\n');
  return {
    fields: {
      source: 'agent',
      ...more,
      message: contentOf(said),
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => toolCallOf(call, lost)) }),
    },
    callIds: new Set(calls.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))),
    results: [],
  };
};

const toolCallOf = (call: WideJsonObject, lost: Losses): WideJsonObject => {
  const { id, function: named, custom, type: _type, ...rest } = call;
  const { name, arguments: given, input } = objectOf(named ?? custom);
  for (const field of Object.keys(rest)) lost.add(`field ${field} of a tool call`);
  const text = textOf(given ?? input) ?? '';
  return {
    tool_call_id: textOf(id) ?? '',
    function_name: textOf(name) ?? '',
    arguments: argumentsOf(text),
  };
};

/** A text, or parts. One text part is a text. */
const contentOf = (content: WideJson | undefined): WideJson => {
  if (typeof content === 'string') return content;
  const parts = partsOf(content);
  const [only] = parts;
  if (only === undefined)
    return content === undefined || content === null
      ? ''
      : listOf(content).length === 0
        ? ''
        : jsonText(content);
  return parts.length === 1 && kindOfPart(only) === 'text' ? (textOf(only['text']) ?? '') : parts;
};
