import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { openChatItems, type ForeignCallFacts, type ChatItems } from './chat-items.ts';
import { isList, listOf, nonEmpty, objectOf, textOf, timeOf, type Field } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Agent files of Letta (`.af`): `{agents: [{id, name, messages, tool_ids}], blocks, tools}`, and those of one agent, `{agent_type, core_memory,
 * messages, tools}`. Each agent is a conversation, each message of its assistant a call.
 */
export const letta: ForeignReader = {
  name: 'letta',
  mapping: 'letta@1',
  summary: 'agent files of Letta (.af)',
  versions:
    'Letta 0.6 to 0.16: files of one agent (`core_memory`), and of several (`agents`, letta/schemas/agent_file.py)',
  recognises: (first) => isFile(unwrapped(first)) || isAgent(first),
  async *read(units): AsyncIterable<ForeignItem> {
    for await (const unit of units) {
      const { where, fault } = unit;
      if (fault !== undefined) throw fault;
      const value = unwrapped(unit.value);
      if (!isJsonObject(value)) throw fail('E_INPUT_SHAPE', `${where} is no agent file`);
      const agents = listOf(value['agents']);
      const tools = toolsIn(value['tools']);
      if (agents.length === 0) yield* itemsOfAgent(value, [...tools.values()], where);
      for (const [index, agent] of agents.entries()) {
        const fields = objectOf(agent);
        const own = listOf(fields['tool_ids']).flatMap((id) => tools.get(textOf(id) ?? '') ?? []);
        yield* itemsOfAgent(fields, own, `${where}, agent ${index}`);
      }
      for (const name of ['blocks', 'files', 'sources', 'groups', 'mcp_servers', 'skills', 'core_memory'])
        if (listOf(value[name]).length > 0)
          yield { kind: 'dropped', what: `field ${name}`, count: listOf(value[name]).length };
    }
  },
};

/** A download of the server is a file in a JSON text. */
const unwrapped = (value: WideJson): WideJson => {
  if (typeof value !== 'string' || !/^\s*\{\s*"agents"/.test(value)) return value;
  try {
    return parseWideJson(value);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return value;
  }
};

const isFile = (value: WideJson): boolean =>
  isJsonObject(value) &&
  isList(value['agents']) &&
  value['agents'].some((agent) => isJsonObject(agent) && isList(agent['messages'])) &&
  (isList(value['blocks']) || isList(value['tools']));

const isAgent = (value: WideJson): boolean =>
  isJsonObject(value) &&
  isList(value['messages']) &&
  typeof value['agent_type'] === 'string' &&
  (isList(value['core_memory']) || isJsonObject(value['llm_config']));

/** The definitions of tools, by their ids. */
const toolsIn = (tools: Field): ReadonlyMap<string, WideJson> =>
  new Map(
    listOf(tools).flatMap((tool, index) => {
      const { id, name, json_schema: schema } = objectOf(tool);
      return isJsonObject(schema)
        ? [[textOf(id) ?? textOf(name) ?? String(index), { type: 'function', function: schema }] as const]
        : [];
    }),
  );

function* itemsOfAgent(
  agent: WideJsonObject,
  tools: readonly WideJson[],
  where: string,
): Iterable<ForeignItem> {
  yield {
    kind: 'conversation',
    key: null,
    title: nonEmpty(agent['name']),
    version: nonEmpty(agent['version']),
  };
  const items = openChatItems({ tools: tools.length > 0 });
  const model = nonEmpty(objectOf(agent['llm_config'])['model']) ?? null;
  const facts: ForeignCallFacts = tools.length > 0 ? { model, tools } : { model };
  for (const [index, message] of listOf(agent['messages']).entries()) {
    if (!isJsonObject(message)) throw fail('E_INPUT_SHAPE', `${where}, message ${index} is no object`);
    yield* itemsOfMessage(message, facts, items, `${where}, message ${index}`);
  }
}

function* itemsOfMessage(
  message: WideJsonObject,
  facts: ForeignCallFacts,
  items: ChatItems,
  where: string,
): Iterable<ForeignItem> {
  const { role, model, created_at: at, tool_calls: calls } = message;
  const said = { at: timeOf(at) };
  const content = contentOf(message['content'] ?? message['text']);
  switch (role) {
    case 'system':
    case 'user':
      yield items.add({ role, content }, said);
      return;
    case 'summary':
      yield items.add({ role: 'user', content }, said);
      return;
    case 'tool':
    case 'function':
      for (const result of resultsOf(message, content)) yield items.add(result, said);
      return;
    case 'assistant':
    case 'approval': {
      const made = listOf(calls);
      if (role === 'approval' && made.length === 0) {
        yield { kind: 'dropped', what: 'message approval' };
        return;
      }
      yield items.add(
        { role: 'assistant', content, ...(made.length > 0 && { tool_calls: made }) },
        { ...facts, ...said, model: nonEmpty(model) ?? facts.model ?? null },
      );
      return;
    }
    default:
      throw fail('E_ROLE_UNKNOWN', `${where} has the role ${canonicalJson(role ?? null).slice(0, 60)}`);
  }
}

/** A message may have the results of several calls. */
const resultsOf = (message: WideJsonObject, content: WideJson): readonly WideJsonObject[] => {
  const { tool_call_id: id, name, tool_returns: returns } = message;
  const named = typeof name === 'string' ? { name } : {};
  const listed = listOf(returns).filter((each) => typeof objectOf(each)['tool_call_id'] === 'string');
  const failed = (status: Field) => (status === 'error' ? { is_error: true } : {});
  if (listed.length === 0 || (listed.length === 1 && typeof id === 'string')) {
    const status = objectOf(listOf(returns)[0])['status'];
    return [
      {
        role: 'tool',
        ...(typeof id === 'string' && { tool_call_id: id }),
        ...named,
        content,
        ...failed(status),
      },
    ];
  }
  return listed.map((each) => {
    const { tool_call_id: call, func_response: response, status } = objectOf(each);
    const text = typeof response === 'string' ? response : canonicalJson(response ?? '');
    return { role: 'tool', tool_call_id: textOf(call) ?? '', ...named, content: text, ...failed(status) };
  });
};

/** A text, or parts, of which a text alone is the text. */
const contentOf = (content: Field): WideJson => {
  if (typeof content === 'string') return content;
  const parts = listOf(content).map(partOf);
  const [only] = parts;
  if (parts.length === 0) return '';
  return parts.length === 1 && only?.['type'] === 'text' && typeof only['text'] === 'string'
    ? only['text']
    : parts;
};

const partOf = (part: WideJson): WideJsonObject => {
  const { type, ...rest } = objectOf(part);
  if (type === 'reasoning')
    return { type: 'thinking', thinking: textOf(rest['reasoning']) ?? '', ...signatureOf(rest) };
  return { type: textOf(type) ?? 'unknown', ...rest };
};

const signatureOf = ({ signature }: WideJsonObject): WideJsonObject =>
  typeof signature === 'string' ? { signature } : {};
