import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import type { CallUsage } from '@stemma/events';
import { fail } from '@stemma/errors';
import { jsonText, responsesMessages } from '@stemma/model-apis';
import { withCountedCalls } from './counted-calls.ts';
import { type DroppedNames, openDroppedNames } from './dropped-names.ts';
import { countOf, type Field, isList, listOf, nonEmpty, objectOf, textOf, timeOfSeconds } from './fields.ts';
import type { ForeignItem, MissingPart } from './item.ts';
import type { ForeignReader } from './reader.ts';
import { shortHash } from './short-hash.ts';
import { eachUnit } from './whole-units.ts';

/**
 * Trajectories of mini-swe-agent (`.traj.json`). Its messages are those that the model was shown, of the chat or the Responses API; what
 * the agent notes beside them (`extra`) has the model's own response, its tokens and times.
 */
export const miniSweAgent: ForeignReader = {
  name: 'mini-swe-agent',
  mapping: 'mini-swe-agent@1',
  summary: 'trajectories of mini-swe-agent (.traj.json), with as many calls as the run counted',
  versions:
    'mini-swe-agent 1.0 to 2.2 (trajectory_format 1 and 1.1): actions as plain text, tool calls and Responses items (mini-swe-agent.com)',
  recognises: isTrajectory,
  async *read(units) {
    yield* eachUnit(units, function* ({ value, where }) {
      if (!isTrajectory(value))
        throw fail(
          'E_INPUT_SHAPE',
          `${where} is no trajectory of mini-swe-agent: it has no format, or no messages`,
        );
      yield* runItems(value, { key: `run ${beginningOf(value)}`, where });
    });
  },
};

function isTrajectory(value: Field): value is WideJsonObject {
  if (!isJsonObject(value) || !isList(value['messages'])) return false;
  const { trajectory_format: format, info } = value;
  const { mini_version: version, model_stats: stats } = objectOf(info);
  return (
    (typeof format === 'string' && format.startsWith('mini-swe-agent')) ||
    typeof version === 'string' ||
    (isJsonObject(stats) && 'api_calls' in stats)
  );
}

/**
 * A hash that tells runs apart: of the messages up to the first that has a time, as the file grows with each step; without times of all
 * of it.
 */
const beginningOf = (run: WideJsonObject): string => {
  const messages = listOf(run['messages']);
  const first = messages.findIndex(
    (message) => typeof objectOf(objectOf(message)['extra'])['timestamp'] === 'number',
  );
  return shortHash(first === -1 ? run : messages.slice(0, first + 1));
};

type Run = { readonly key: string; readonly where: string };

const KNOWN: ReadonlySet<string> = new Set(['info', 'messages', 'trajectory_format', 'instance_id']);
const KNOWN_OF_INFO: ReadonlySet<string> = new Set(['model_stats', 'mini_version', 'exit_status', 'config']);

function* runItems(run: WideJsonObject, { key, where }: Run): Iterable<ForeignItem> {
  const info = objectOf(run['info']);
  const dropped = openDroppedNames();
  dropped.fields('field', run, KNOWN);
  dropped.fields('info', info, KNOWN_OF_INFO);
  dropped.fields('model_stats', objectOf(info['model_stats']), new Set(['api_calls']));
  const { model: said, ...config } = objectOf(info['config']);
  dropped.fields('config', config, new Set());
  const version = nonEmpty(info['mini_version']);
  const exit = nonEmpty(info['exit_status']);
  const name = nonEmpty(run['instance_id']) ?? 'mini-swe-agent';
  yield {
    kind: 'conversation',
    key,
    title: exit === undefined ? name : `${name} (${exit})`,
    ...(version !== undefined && { version }),
  };
  const asked = objectOf(said);
  const model = nonEmpty(asked['model_name']) ?? null;
  const parameters = isJsonObject(asked['model_kwargs']) ? asked['model_kwargs'] : null;
  const items: ForeignItem[] = [];
  const context: RunContext = { model, parameters, dropped, hasSystem: false };
  for (const [i, message] of listOf(run['messages']).entries()) {
    if (!isJsonObject(message)) throw fail('E_INPUT_SHAPE', `message ${i} of ${where} is no object`);
    items.push(...messageItems(message, context, `message ${i} of ${where}`));
  }
  yield* withCountedCalls(items, info['model_stats'], model);
  yield* dropped.items();
}

type RunContext = {
  readonly model: string | null;
  readonly parameters: WideJsonObject | null;
  readonly dropped: DroppedNames;
  hasSystem: boolean;
};

const KNOWN_OF_EXTRA: ReadonlySet<string> = new Set([
  'response',
  'timestamp',
  'interrupt_type',
  'exit_status',
]);

/** @throws E_INPUT_SHAPE */
const messageItems = (
  message: WideJsonObject,
  context: RunContext,
  where: string,
): readonly ForeignItem[] => {
  const { extra: beside, ...said } = message;
  const extra = objectOf(beside);
  context.dropped.fields('extra', extra, KNOWN_OF_EXTRA);
  const at = timeOfSeconds(extra['timestamp']);
  const times = at === undefined ? {} : { at };
  const { role } = said;
  if (role === 'system') context.hasSystem = true;
  const response = said['object'] === 'response' ? said : objectOf(extra['response']);
  if (role === 'assistant' || said['object'] === 'response')
    return answersOf(said, where).map((answer): ForeignItem => ({
      kind: 'call',
      ...callFacts(response, context),
      answer,
      ...times,
    }));
  const items: ForeignItem[] = [];
  // An answer that was no action was not shown to the model again: only the complaint about it was.
  if (extra['interrupt_type'] === 'FormatError' && Object.keys(response).length > 0) {
    const { missing, ...facts } = callFacts(response, context);
    context.dropped.add('answer that is no action');
    items.push({ kind: 'call', ...facts, answer: null, missing: [...missing, 'answer'], ...times });
  }
  const messages = messagesOf(said, where);
  items.push({
    kind: 'message',
    role: nonEmpty(role) ?? nonEmpty(said['type']) ?? 'tool',
    messages,
    ...times,
  });
  return items;
};

/** The answers of a message: one of the chat API, or of the items of the Responses API. */
const answersOf = (said: WideJsonObject, where: string): readonly WideJsonObject[] => {
  if (said['object'] === 'response') {
    const answers = responsesMessages(undefined, listOf(said['output']));
    return answers.length === 0 ? [{ role: 'assistant', content: '' }] : answers.slice(0, 1);
  }
  return [chatOf(said, 'assistant', where)];
};

/** The message in the form of the chat API; the agent's notes about its exit are texts of a user. */
const messagesOf = (said: WideJsonObject, where: string): readonly WideJsonObject[] => {
  const { role, type } = said;
  if (typeof role !== 'string') {
    if (type !== 'function_call_output')
      throw fail('E_INPUT_SHAPE', `${where} has neither a role nor a type that is known`);
    return responsesMessages(undefined, [said]);
  }
  return [chatOf(said, CHAT.has(role) ? role : 'user', where)];
};

const CHAT: ReadonlySet<string> = new Set(['system', 'user', 'tool', 'developer']);

const chatOf = (said: WideJsonObject, role: string, where: string): WideJsonObject => {
  const { content, type: _type, ...rest } = withoutNulls(said);
  if (content !== undefined && typeof content !== 'string' && !isList(content))
    throw fail('E_INPUT_SHAPE', `the content of ${where} is neither a text nor a list`);
  const calls = listOf(rest['tool_calls']).filter(isJsonObject).map(toolCallOf);
  const { tool_calls: _calls, provider_specific_fields: _specific, ...others } = rest;
  return { ...others, role, content: content ?? '', ...(calls.length > 0 && { tool_calls: calls }) };
};

const toolCallOf = (call: WideJsonObject): WideJsonObject => {
  const said = objectOf(call['function']);
  const { arguments: given = '{}' } = said;
  return {
    ...call,
    type: textOf(call['type']) ?? 'function',
    function: { ...said, arguments: typeof given === 'string' ? given : jsonText(given) },
  };
};

const withoutNulls = (object: WideJsonObject): WideJsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** What the response says beside its message. */
const callFacts = (response: WideJsonObject, { model, parameters, hasSystem }: RunContext) => {
  const usage = usageOf(response['usage']);
  const reason = objectOf(listOf(response['choices'])[0])['finish_reason'] ?? response['status'];
  const missing: MissingPart[] = [];
  if (!hasSystem) missing.push('system prompt');
  missing.push('tools');
  if (parameters === null) missing.push('parameters');
  if (usage === null) missing.push('usage');
  return {
    model: nonEmpty(response['model']) ?? model,
    usage,
    parameters: parameters ?? {},
    finishReason: textOf(reason) ?? null,
    missing,
  };
};

/** Tokens as the chat and the Responses API name them, with what Anthropic has of caches. */
const usageOf = (value: Field): CallUsage | null => {
  if (!isJsonObject(value)) return null;
  const details = objectOf(value['prompt_tokens_details'] ?? value['input_tokens_details']);
  const made = objectOf(value['completion_tokens_details'] ?? value['output_tokens_details']);
  const usage = {
    input: countOf(value['prompt_tokens'] ?? value['input_tokens']),
    output: countOf(value['completion_tokens'] ?? value['output_tokens']),
    cached: countOf(details['cached_tokens'] ?? value['cache_read_input_tokens']),
    cacheWrite: countOf(value['cache_creation_input_tokens'] ?? details['cache_creation_tokens']),
    reasoning: countOf(made['reasoning_tokens']),
  };
  return Object.values(usage).every((tokens) => tokens === null) ? null : usage;
};
