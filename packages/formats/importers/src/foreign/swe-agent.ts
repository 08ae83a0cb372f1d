import { isJsonObject, parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { jsonText } from '@stemma/model-apis';
import { unheldCalls, withCountedCalls } from './counted-calls.ts';
import { openDroppedNames, type DroppedNames } from './dropped-names.ts';
import { countOf, type Field, isList, listOf, nonEmpty, objectOf } from './fields.ts';
import type { ForeignItem, MissingPart } from './item.ts';
import type { ForeignReader } from './reader.ts';
import { shortHash } from './short-hash.ts';
import { eachUnit } from './whole-units.ts';

/**
 * Trajectories of SWE-agent (`.traj`). Its history is the conversation; what a step of the trajectory answered and the history does not
 * have, such as the last one before the exit, stands behind it. Demonstrations are messages, and no calls.
 */
export const sweAgent: ForeignReader = {
  name: 'swe-agent',
  mapping: 'swe-agent@1',
  summary: 'trajectories of SWE-agent (.traj): the history, with as many calls as the run counted',
  versions:
    'SWE-agent 0.2 to 1.1: actions as plain text, XML and function calls, with replay_config, attempts and thinking blocks (swe-agent.com/latest/usage/trajectories)',
  recognises: isTrajectory,
  async *read(units) {
    yield* eachUnit(units, function* ({ value, where }) {
      if (!isTrajectory(value))
        throw fail('E_INPUT_SHAPE', `${where} is no trajectory of SWE-agent: it has no history`);
      // A trajectory says nothing that names it for good.
      yield* fileItems(value, { key: `run ${shortHash(value)}`, where });
    });
  },
};

function isTrajectory(value: Field): value is WideJsonObject {
  if (!isJsonObject(value)) return false;
  const { attempts, history, trajectory, info } = value;
  if (listOf(attempts).some((attempt) => isJsonObject(attempt) && isList(attempt['history']))) return true;
  if (!isList(history)) return false;
  const [first] = history;
  const isNamed =
    isJsonObject(first) && typeof first['role'] === 'string' && typeof first['agent'] === 'string';
  return isNamed || (isList(trajectory) && isJsonObject(info));
}

type Run = { readonly key: string; readonly where: string };

function* fileItems(file: WideJsonObject, { key, where }: Run): Iterable<ForeignItem> {
  const attempts = listOf(file['attempts']);
  if (attempts.length === 0) {
    yield* runItems(file, file, { key, where });
    return;
  }
  let calls = 0;
  for (const [i, attempt] of attempts.entries()) {
    if (!isJsonObject(attempt)) throw fail('E_INPUT_SHAPE', `attempt ${i} of ${where} is no object`);
    for (const item of runItems(attempt, file, {
      key: `${key}, attempt ${i + 1}`,
      where: `attempt ${i} of ${where}`,
    })) {
      if (item.kind === 'call') calls += 1;
      yield item;
    }
  }
  // The run also asked a model which attempt is the best.
  const all = countOf(objectOf(objectOf(file['info'])['model_stats'])['api_calls']) ?? 0;
  if (all <= calls) return;
  yield { kind: 'conversation', key: `${key}, reviews`, title: `${titleOf(file, file)}, reviews` };
  yield* unheldCalls(all - calls, null);
}

const KNOWN: ReadonlySet<string> = new Set([
  ...['history', 'trajectory', 'info', 'environment', 'attempts', 'replay_config'],
]);
const KNOWN_OF_INFO: ReadonlySet<string> = new Set(['model_stats', 'exit_status', 'swe_agent_version']);

function* runItems(run: WideJsonObject, file: WideJsonObject, { key, where }: Run): Iterable<ForeignItem> {
  const info = objectOf(run['info']);
  const version = nonEmpty(info['swe_agent_version']);
  const dropped = openDroppedNames();
  dropped.fields('field', run, KNOWN);
  dropped.fields('info', info, KNOWN_OF_INFO);
  dropped.fields('model_stats', objectOf(info['model_stats']), new Set(['api_calls']));
  yield {
    kind: 'conversation',
    key,
    title: titleOf(run, file),
    ...(version !== undefined && { version }),
  };
  const model = modelOf(run['replay_config'] ?? file['replay_config']);
  const items = historyItems(run, { model, where, dropped });
  yield* withCountedCalls(items, info['model_stats'], model);
  yield* dropped.items();
}

/** The problem, and how the run ended. */
const titleOf = (run: WideJsonObject, file: WideJsonObject): string => {
  const config = configOf(run['replay_config'] ?? file['replay_config']);
  const { id, github_url: url } = objectOf(config['problem_statement']);
  const name = nonEmpty(id) ?? nonEmpty(url) ?? nonEmpty(run['environment']) ?? 'SWE-agent';
  const exit = nonEmpty(objectOf(run['info'])['exit_status']);
  return exit === undefined ? name : `${name} (${exit})`;
};

/** The configuration of the run: an object, or its JSON text. */
const configOf = (config: Field): WideJsonObject => {
  if (typeof config !== 'string') return objectOf(config);
  try {
    return objectOf(parseWideJson(config));
  } catch (error) {
    if (isStemmaError(error)) return {};
    throw error;
  }
};

const modelOf = (given: Field): string | null => {
  const { agent, actions } = configOf(given);
  const said = objectOf(objectOf(agent)['model']);
  return (
    nonEmpty(said['name']) ?? nonEmpty(said['model_name']) ?? nonEmpty(objectOf(actions)['model']) ?? null
  );
};

type History = { readonly model: string | null; readonly where: string; readonly dropped: DroppedNames };

const MISSING: readonly MissingPart[] = ['tools', 'parameters', 'usage'];

const historyItems = (run: WideJsonObject, { model, where, dropped }: History): readonly ForeignItem[] => {
  const items: ForeignItem[] = [];
  let hasSystem = false;
  const missing = (): readonly MissingPart[] => (hasSystem ? MISSING : ['system prompt', ...MISSING]);
  let answers = 0;
  for (const [i, item] of listOf(run['history']).entries()) {
    if (!isJsonObject(item) || typeof item['role'] !== 'string')
      throw fail('E_INPUT_SHAPE', `item ${i} of the history of ${where} has no role`);
    const { role } = item;
    if (role === 'system') hasSystem = true;
    const messages = messagesOf(item, role, dropped);
    const isAnswer =
      role === 'assistant' && item['is_demo'] !== true && item['message_type'] !== 'demonstration';
    if (!isAnswer) items.push({ kind: 'message', role, messages });
    else for (const answer of messages) items.push({ kind: 'call', model, answer, missing: missing() });
    if (isAnswer) answers += 1;
  }
  // The last step of a run often is not in its history.
  let unheld = Math.max(
    0,
    (countOf(objectOf(objectOf(run['info'])['model_stats'])['api_calls']) ?? 0) - answers,
  );
  for (const step of listOf(run['trajectory']).slice(answers)) {
    const response = nonEmpty(objectOf(step)['response']);
    if (response === undefined) continue;
    if (unheld === 0) dropped.add('step that is not in the history');
    else {
      unheld -= 1;
      items.push({
        kind: 'call',
        model,
        answer: { role: 'assistant', content: response },
        missing: missing(),
      });
    }
  }
  return items;
};

const KNOWN_OF_MESSAGE: ReadonlySet<string> = new Set([
  ...[
    'role',
    'content',
    'tool_calls',
    'tool_call_ids',
    'thinking_blocks',
    'is_demo',
    'message_type',
    'agent',
    'name',
  ],
]);

/** The messages of the chat API: one, or one for each call that an observation answers. */
const messagesOf = (item: WideJsonObject, role: string, dropped: DroppedNames): readonly WideJsonObject[] => {
  dropped.fields('message', item, KNOWN_OF_MESSAGE);
  const content = contentOf(item['content']);
  if (role === 'assistant') {
    const calls = listOf(item['tool_calls']).filter(isJsonObject).map(toolCallOf);
    const thoughts = listOf(item['thinking_blocks']).filter(isJsonObject);
    const texts = isList(content) ? content : content === '' ? [] : [{ type: 'text', text: content }];
    return [
      {
        role,
        content: thoughts.length === 0 ? content : [...thoughts, ...texts],
        ...(calls.length > 0 && { tool_calls: calls }),
      },
    ];
  }
  const ids = listOf(item['tool_call_ids']).filter((id) => typeof id === 'string');
  if (role === 'tool' && ids.length > 0)
    return ids.map((id, i) => ({ role, content: i === 0 ? content : '', tool_call_id: id }));
  return [{ role: CHAT.has(role) ? role : 'user', content }];
};

const CHAT: ReadonlySet<string> = new Set(['system', 'user', 'tool']);

/** A call of a tool with its arguments as JSON text, whatever they were written as. */
const toolCallOf = (call: WideJsonObject): WideJsonObject => {
  const said = objectOf(call['function']);
  const { arguments: given = '{}' } = said;
  return {
    ...call,
    type: 'function',
    function: { ...said, arguments: typeof given === 'string' ? given : jsonText(given) },
  };
};

const contentOf = (content: Field): WideJson =>
  typeof content === 'string' || isList(content) ? content : content == null ? '' : jsonText(content);
