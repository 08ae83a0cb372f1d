import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { CallUsage } from '@stemma/events';
import { fail } from '@stemma/errors';
import { jsonText } from '@stemma/model-apis';
import { type DroppedNames, openDroppedNames } from './dropped-names.ts';
import { countOf, type Field, isList, listOf, nonEmpty, objectOf, textOf, timeOf } from './fields.ts';
import type { ForeignItem, MissingPart } from './item.ts';
import type { ForeignReader } from './reader.ts';
import { shortHash } from './short-hash.ts';
import { eachUnit } from './whole-units.ts';

/**
 * Trajectories of the Agent Trajectory Interchange Format of Harbor. A step of the agent that has metrics is a call; its observation is
 * what came back from its tools. Trajectories of sub-agents are conversations of their own, embedded ones and such as stand beside.
 */
export const atif: ForeignReader = {
  name: 'atif',
  mapping: 'atif@1',
  summary: 'trajectories of Harbor (ATIF): a step of the agent with metrics is a call',
  versions: 'ATIF-v1.0 to v1.7, as its RFC 0001 and the files of Harbor, terminus-2 and OpenHands have it',
  recognises: (first) => isTrajectory(isList(first) ? first[0] : first),
  takesItems: (first) => isTrajectory(first),
  async *read(units) {
    const file: FileState = { keys: new Set(), callers: new Map() };
    yield* eachUnit(units, function* ({ value, where }) {
      for (const [i, document] of (isList(value) ? value : [value]).entries()) {
        const place = isList(value) ? `trajectory ${i} of ${where}` : where;
        if (!isTrajectory(document))
          throw fail(
            'E_INPUT_SHAPE',
            `${place} is no trajectory: it has no schema_version of ATIF, or no steps`,
          );
        yield* trajectoryItems(file, document, { where: place });
      }
    });
  },
};

function isTrajectory(value: Field): value is WideJsonObject {
  if (!isJsonObject(value)) return false;
  const { schema_version: version } = value;
  return typeof version === 'string' && /^ATIF-v\d/iu.test(version) && isList(value['steps']);
}

type Parent = { readonly key: string; readonly toolCall?: string | undefined };

type FileState = {
  readonly keys: Set<string>;
  /** Who names a trajectory of a sub-agent, by its id or its session. */
  readonly callers: Map<string, Parent>;
};

/** A document cannot hold more of them; a file of lines can. */
const MOST_CALLERS = 100_000;

const KNOWN: ReadonlySet<string> = new Set([
  ...['schema_version', 'session_id', 'trajectory_id', 'agent', 'steps', 'subagent_trajectories'],
]);
const KNOWN_OF_AGENT: ReadonlySet<string> = new Set(['name', 'version', 'model_name', 'tool_definitions']);
const KNOWN_OF_STEP: ReadonlySet<string> = new Set([
  ...['step_id', 'timestamp', 'source', 'model_name', 'reasoning_effort', 'message', 'reasoning_content'],
  ...['tool_calls', 'observation', 'metrics', 'llm_call_count', 'is_copied_context'],
]);
const KNOWN_OF_METRICS: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
]);

/** @param given.parent of an embedded trajectory */
function* trajectoryItems(
  file: FileState,
  document: WideJsonObject,
  given: { readonly where: string; readonly parent?: Parent },
): Iterable<ForeignItem> {
  const agent = objectOf(document['agent']);
  const [own, session] = [nonEmpty(document['trajectory_id']), nonEmpty(document['session_id'])];
  const name = own ?? session;
  const key = freeKey(file.keys, `${name === undefined ? '' : `${name} `}${beginningOf(document)}`);
  const parent = callerOf(file, own, session) ?? given.parent;
  const version = nonEmpty(agent['version']);
  yield {
    kind: 'conversation',
    key,
    title: `${nonEmpty(agent['name']) ?? 'agent'} ${name ?? ''}`.trim(),
    ...(version !== undefined && { version }),
    ...(parent !== undefined && parent.key !== key && { parent, sidechain: true }),
  };
  const dropped = openDroppedNames();
  dropped.fields('trajectory', document, KNOWN);
  dropped.fields('agent', agent, KNOWN_OF_AGENT);
  const context: StepContext = {
    dropped,
    model: nonEmpty(agent['model_name']) ?? null,
    tools: isList(agent['tool_definitions']) ? agent['tool_definitions'] : null,
    hasSystem: false,
  };
  for (const [i, step] of listOf(document['steps']).entries()) {
    if (!isJsonObject(step) || typeof step['source'] !== 'string')
      throw fail('E_INPUT_SHAPE', `step ${i} of ${given.where} is none: it has no source`);
    noteCallers(file, step, key);
    yield* stepItems(step, context, `step ${i + 1} of ${key}`);
  }
  yield* dropped.items();
  for (const [i, child] of listOf(document['subagent_trajectories']).entries()) {
    const where = `sub-agent ${i} of ${given.where}`;
    if (!isJsonObject(child) || !isList(child['steps']))
      throw fail('E_INPUT_SHAPE', `${where} is no trajectory: it has no steps`);
    yield* trajectoryItems(file, child, { where, parent: { key } });
  }
}

/** A hash of a trajectory up to its first step of the agent: sessions and ids are unique in a run at best, and a file may grow. */
const beginningOf = ({ agent = null, steps }: WideJsonObject): string => {
  const all = listOf(steps);
  const first = all.findIndex((step) => objectOf(step)['source'] === 'agent');
  return shortHash([agent, ...all.slice(0, first === -1 ? all.length : first + 1)]);
};

/** Documents of one run may have one session: then the later ones have a number. */
const freeKey = (keys: Set<string>, wanted: string): string => {
  let key = wanted;
  for (let n = 2; keys.has(key); n++) key = `${wanted} ${n}`;
  keys.add(key);
  return key;
};

const callerOf = (
  file: FileState,
  own: string | undefined,
  session: string | undefined,
): Parent | undefined =>
  (own === undefined ? undefined : file.callers.get(own)) ??
  (session === undefined ? undefined : file.callers.get(session));

const noteCallers = (file: FileState, step: WideJsonObject, key: string): void => {
  for (const result of listOf(objectOf(step['observation'])['results'])) {
    const said = objectOf(result);
    for (const ref of listOf(said['subagent_trajectory_ref'])) {
      const { trajectory_id: id, session_id: session } = objectOf(ref);
      const name = nonEmpty(id) ?? nonEmpty(session);
      if (name === undefined || file.callers.size >= MOST_CALLERS) continue;
      file.callers.set(name, { key, toolCall: nonEmpty(said['source_call_id']) });
    }
  }
};

type StepContext = {
  readonly dropped: DroppedNames;
  readonly model: string | null;
  readonly tools: readonly WideJson[] | null;
  hasSystem: boolean;
};

function* stepItems(step: WideJsonObject, context: StepContext, where: string): Iterable<ForeignItem> {
  const { dropped } = context;
  dropped.fields('step', withoutBoundary(step), KNOWN_OF_STEP);
  const source = textOf(step['source']) ?? '';
  const at = timeOf(step['timestamp']);
  const times = at === undefined ? {} : { at };
  const results = listOf(objectOf(step['observation'])['results']);
  if (hasLostImage(step['message'])) yield { kind: 'warning', code: 'W_CONTENT_LOST', where };
  if (source === 'agent') {
    const answer = answerOf(step, dropped);
    if (isJsonObject(step['metrics']) && step['is_copied_context'] !== true)
      yield { kind: 'call', ...callFacts(step, step['metrics'], context), answer, ...times };
    else yield { kind: 'message', role: 'assistant', messages: [answer], ...times };
  } else {
    if (source === 'system') context.hasSystem = true;
    yield {
      kind: 'message',
      role: source,
      messages: [{ role: source === 'system' ? 'system' : 'user', content: contentOf(step['message']) }],
      ...times,
    };
    if (isBoundary(step)) yield { kind: 'compaction' };
  }
  for (const result of results) yield* resultItems(result, { source, where, times, dropped });
}

/** True for a step that says: what its observation holds replaces all before. */
const isBoundary = (step: WideJsonObject): boolean =>
  objectOf(objectOf(step['extra'])['context_management'])['boundary'] === 'replace';

const withoutBoundary = (step: WideJsonObject): WideJsonObject => {
  if (!isBoundary(step)) return step;
  const { context_management: _read, ...extra } = objectOf(step['extra']);
  return { ...step, extra };
};

const answerOf = (step: WideJsonObject, dropped: DroppedNames): WideJsonObject => {
  const said = contentOf(step['message']);
  const thought = nonEmpty(step['reasoning_content']);
  const calls = listOf(step['tool_calls']).map((call, i) => toolCallOf(objectOf(call), i, dropped));
  const texts = isList(said) ? said : said === '' ? [] : [{ type: 'text', text: said }];
  return {
    role: 'assistant',
    content: thought === undefined ? said : [{ type: 'thinking', thinking: thought }, ...texts],
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};

const KNOWN_OF_CALL: ReadonlySet<string> = new Set(['tool_call_id', 'function_name', 'arguments']);

const toolCallOf = (call: WideJsonObject, index: number, dropped: DroppedNames): WideJsonObject => {
  dropped.fields('tool call', call, KNOWN_OF_CALL);
  const name = textOf(call['function_name']) ?? '';
  const given = call['arguments'] ?? {};
  return {
    id: nonEmpty(call['tool_call_id']) ?? `${name}:${index}`,
    type: 'function',
    function: { name, arguments: typeof given === 'string' ? given : jsonText(given) },
  };
};

const callFacts = (step: WideJsonObject, metrics: WideJsonObject, context: StepContext) => {
  context.dropped.fields('metrics', metrics, KNOWN_OF_METRICS);
  const usage = usageOf(metrics);
  const { reasoning_effort: effort } = step;
  const missing: MissingPart[] = [];
  if (!context.hasSystem) missing.push('system prompt');
  if (context.tools === null) missing.push('tools');
  missing.push('parameters');
  if (usage === null) missing.push('usage');
  return {
    model: nonEmpty(step['model_name']) ?? context.model,
    usage,
    tools: context.tools,
    parameters: typeof effort === 'string' || typeof effort === 'number' ? { reasoning_effort: effort } : {},
    missing,
  };
};

/** Tokens: `prompt_tokens` are all, with those from a cache. */
const usageOf = (metrics: WideJsonObject): CallUsage | null => {
  const extra = objectOf(metrics['extra']);
  const usage = {
    input: countOf(metrics['prompt_tokens']),
    output: countOf(metrics['completion_tokens']),
    cached: countOf(metrics['cached_tokens']),
    cacheWrite: countOf(extra['cache_creation_input_tokens']),
    reasoning: countOf(extra['reasoning_tokens']),
  };
  return Object.values(usage).every((tokens) => tokens === null) ? null : usage;
};

/** The results of tools; what came back without a call is a message. */
function* resultItems(
  result: WideJson,
  {
    source,
    where,
    times,
    dropped,
  }: {
    readonly source: string;
    readonly where: string;
    readonly times: { readonly at?: number };
    readonly dropped: DroppedNames;
  },
): Iterable<ForeignItem> {
  const said = objectOf(result);
  const { is_error: failed, ...extra } = objectOf(said['extra']);
  dropped.fields('observation', { ...said, extra }, KNOWN_OF_RESULT);
  const content = contentOf(said['content']);
  const call = nonEmpty(said['source_call_id']);
  if (hasLostImage(said['content'])) yield { kind: 'warning', code: 'W_CONTENT_LOST', where };
  // A result that only names a sub-agent's trajectory says nothing of its own.
  if (call === undefined && content === '' && isList(said['subagent_trajectory_ref'])) return;
  const role = call !== undefined ? 'tool' : source === 'system' ? 'system' : 'user';
  yield {
    kind: 'message',
    role: call !== undefined ? 'tool' : source === 'agent' ? 'observation' : source,
    messages: [
      {
        role,
        content,
        ...(call !== undefined && { tool_call_id: call }),
        ...(failed === true && { is_error: true }),
      },
    ],
    ...times,
  };
}

const KNOWN_OF_RESULT: ReadonlySet<string> = new Set([
  'source_call_id',
  'content',
  'subagent_trajectory_ref',
]);

/** A text, or parts; parts keep what they are, as images are files beside the trajectory. */
const contentOf = (content: Field): WideJson => {
  if (typeof content === 'string') return content;
  if (isList(content))
    return content.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part));
  return content === undefined || content === null ? '' : jsonText(content);
};

/** True if a part is an image that lies in a file beside this one. */
const hasLostImage = (content: Field): boolean =>
  listOf(content).some((part) => {
    const { type, source } = objectOf(part);
    return type === 'image' && typeof objectOf(source)['path'] === 'string';
  });
